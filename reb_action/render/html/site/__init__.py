"""The leaderboard as a folder of static files: no network, and usable without its script."""

from reb_action.render.html.site.build import build, front, trial_pages

__all__ = ["build", "front", "trial_pages"]
