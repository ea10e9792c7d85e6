"""Spirals and a network that tells their arms apart."""
