"""Sandboxes of trials: one Protocol with the implementations `docker` and `local`."""
