"""Numbers with their units, the same in every text."""


def percent(share: float) -> str:
    """Return whole per cent without the sign; only none is 0, only all is 100."""
    return f"{share * 100:.0f}" if share in (0, 1) else str(min(max(round(share * 100), 1), 99))


def amount(number: float) -> str:
    """Return a count in at most three figures, with thousands or millions as a letter."""
    for least, letter in ((1_000_000, " M"), (1_000, " k")):
        if number >= least:
            return f"{number / least:.3g}{letter}"
    return f"{number:.0f}"


def dollars(number: float) -> str:
    """Return US dollars."""
    return f"${number:,.2f}"


def size(size_bytes: float) -> str:
    """Return a size in KiB, MiB or GiB."""
    mib = size_bytes / 2**20
    if mib >= 1024:
        return f"{mib / 1024:,.1f} GiB"
    return f"{mib:,.1f} MiB" if mib >= 1 else f"{size_bytes / 1024:,.1f} KiB"


def duration(seconds: float) -> str:
    """Return a time in seconds, minutes or hours."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def clock(seconds: float) -> str:
    """Return a time as minutes and seconds of a clock."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes:02}:{rest:02}"
