"""The gateway's connection to the model."""
