"""The leaderboard as a folder of static files: they need no network, and the script is optional."""

from reb_action.render.html.site.build import board_files, build_site, front_files, trial_pages
from reb_action.render.html.site.document import BOARD, FILES
from reb_action.render.html.site.facts import BoardFacts, Publication, TrialFacts
from reb_action.render.html.site.names import page_of
from reb_action.render.html.site.site_board import BoardLink, Boards

__all__ = [
    "BOARD",
    "FILES",
    "BoardFacts",
    "BoardLink",
    "Boards",
    "Publication",
    "TrialFacts",
    "board_files",
    "build_site",
    "front_files",
    "page_of",
    "trial_pages",
]
