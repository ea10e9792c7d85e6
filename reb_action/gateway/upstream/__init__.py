"""The side of the gateway that talks to the model's vendor."""
