"""GitHub as a runner shows it: the environment in, workflow commands and files out."""
