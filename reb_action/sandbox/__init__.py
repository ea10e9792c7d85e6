"""Where a trial lives: one Protocol, met by `docker` and `local`."""
