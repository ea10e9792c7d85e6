"""The leaderboard as a folder of static files: they need no network, and the script is optional."""

from reb_action.render.html.site.build import build_site, front_files, trial_pages

__all__ = ["build_site", "front_files", "trial_pages"]
