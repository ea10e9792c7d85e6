"""The parts of GitHub's REST API that reb uses."""
