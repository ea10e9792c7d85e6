"""The sandbox in a Docker container; the only place that spells the Docker SDK."""
