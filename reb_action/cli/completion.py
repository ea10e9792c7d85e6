"""Shell completion of the names of agents and repositories, and of manifest files."""

import click
from click.shell_completion import CompletionItem


def complete_agents(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the agents whose names begin so; else the shell completes files."""
    from reb_action.agents.catalogue import AGENTS

    return _complete(AGENTS, incomplete) or [CompletionItem(incomplete, type="file")]


def complete_repositories(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the repositories of the corpus that begin so; else the shell completes files."""
    from reb_action.corpus.manifests import list_repositories

    found = _complete(list_repositories(), incomplete)
    return found or [CompletionItem(incomplete, type="file")]


def _complete(names: tuple[str, ...], incomplete: str) -> list[CompletionItem]:
    """Return the names that begin like the last item of a list; an owner's case is ignored."""
    before, comma, last = incomplete.rpartition(",")
    start = before + comma
    return [CompletionItem(start + name) for name in names if name.lower().startswith(last.lower())]
