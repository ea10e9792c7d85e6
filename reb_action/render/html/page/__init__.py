"""One trial as one HTML page that needs nothing but itself: no network, no script."""

from reb_action.render.html.page.document import trial_page
from reb_action.render.html.page.view import View

__all__ = ["View", "trial_page"]
