"""A duration on the command line: 90s, 1m, 12h."""

import re

import click

_UNITS = {"s": 1, "m": 60, "h": 3600}
# samples: "90s", "1m", "1.5h"
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)([smh])")


def duration(_ctx: click.Context, _parameter: click.Parameter, text: str) -> float:
    """Parse a number and a unit into seconds; anything else is a usage error."""
    match = _DURATION.fullmatch(text)
    if match is None or not float(match[1]):
        raise click.BadParameter(f"{text!r} is no duration: write 90s, 1m or 12h")
    return float(match[1]) * _UNITS[match[2]]
