"""One YAML file for each agent, and what places, starts and follows one in a sandbox."""
