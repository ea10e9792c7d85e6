"""The artifacts of finished trials: collection, scoreboard, page and site."""
