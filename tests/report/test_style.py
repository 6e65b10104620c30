"""The page's colours can be told from their grounds, by day and by night."""

import re
from importlib.resources import files

import pytest

STYLE = files("nettests.report").joinpath("templates/report.css").read_text("utf-8")
VERDICTS = ("pass", "limited", "fail", "lifted", "flaky", "recorded", "unknown", "skipped")
PAIRS = [(verdict, f"{verdict}-bg") for verdict in VERDICTS]
PAIRS += [("ink", "paper"), ("ink", "card"), ("soft", "paper"), ("soft", "card"), ("soft", "wash")]
PAIRS += [("link", "card"), ("link", "paper")]
READABLE = 4.5
"""WCAG 2.2, success criterion 1.4.3, level AA."""


def palettes() -> dict[str, dict[str, str]]:
    # sample: "  --paper: #f6f7f9; --card: #ffffff; --ink: #1b2330;"
    blocks = re.findall(r"^ *(:root[^{]*)\{([^}]*--paper[^}]*)\}", STYLE, re.MULTILINE)
    found = {
        selector.strip(): dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", block))
        for selector, block in blocks
        if "--ink" in block  # print changes the paper alone
    }
    assert len(found) == 3
    return found


def luminance(colour: str) -> float:
    """Return the relative luminance of ``#rrggbb`` (WCAG 2.2, definitions)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_black_on_white_is_the_greatest_contrast() -> None:
    """The formula gives the ratio that the definition states."""
    assert round(contrast("#000000", "#ffffff"), 2) == 21


@pytest.mark.parametrize(("text", "ground"), PAIRS)
def test_text_is_readable_on_its_ground(text: str, ground: str) -> None:
    """Every text has the contrast of level AA on its ground, in each palette."""
    for name, palette in palettes().items():
        ratio = contrast(palette[text], palette[ground])
        assert ratio >= READABLE, f"{name}: {text} on {ground} is {ratio:.2f}"


def test_both_ways_into_the_dark_have_one_palette() -> None:
    """The system's wish and the button give the same colours."""
    by_system, by_button = (one for name, one in palettes().items() if "data-theme" in name)
    assert by_system == by_button
