"""What the steps of a workflow call."""
