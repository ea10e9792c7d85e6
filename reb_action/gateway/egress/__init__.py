"""The HTTP proxy behind `network: allowed`."""
