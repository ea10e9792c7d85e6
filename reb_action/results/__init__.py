"""The artifacts of finished trials, and what is made of them."""
