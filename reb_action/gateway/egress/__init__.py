"""The proxy that leads a sandbox to named hosts."""
