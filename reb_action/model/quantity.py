"""Numbers with their nouns, the same in every text."""


def count(number: int, singular: str, plural: str | None = None) -> str:
    """Return a number with its noun."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"
