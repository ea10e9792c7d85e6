"""The sandbox in a scratch folder of this machine."""
