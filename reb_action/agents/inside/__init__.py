"""Programs of agents, run inside the sandbox by its own Python."""
