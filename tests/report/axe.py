"""What axe-core finds wrong with a page in a browser: contrast, names, structure, keyboard, by its rules."""

import json
from pathlib import Path
from typing import Any, Literal

import pytest

from scripts.axe import FILE as AXE
from tests.report.browser import Page

RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice")
SEEN: tuple[tuple[int, Literal["light", "dark"]], ...] = (
    (1400, "light"),
    (1400, "dark"),
    (360, "light"),
)
"""How a page is looked at: widths, and the reader's choice of colours."""
needs_axe = pytest.mark.skipif(
    not AXE.is_file(), reason="axe-core is not here: python scripts/axe.py fetches it by npm"
)


def violations(browser: Page) -> list[str]:
    """Return what axe finds wrong with the page as it is shown: rule, and where."""
    told: dict[str, Any] = json.loads(
        browser.evaluate(
            f"axe.run(document, {{runOnly: {json.dumps(RULES)}}}).then((found) => JSON.stringify(found))"
        )
    )
    assert len(told["passes"]) > 15, "axe looked at nothing"
    return [
        f"{one['id']}: {node['target']} {node.get('failureSummary', '')}"
        for one in told["violations"]
        for node in one["nodes"][:3]
    ]


def assert_readable(browser: Page, file: Path) -> None:
    """Nothing is wrong with the page, on a desk in light and dark and on a telephone, with every list unfolded."""
    # The page's own policy forbids what axe does.
    browser.command("Page.setBypassCSP", enabled=True)
    try:
        for width, scheme in SEEN:
            with browser.seen(width, scheme=scheme):
                browser.open_whole(file, width)
                browser.evaluate(AXE.read_text("utf-8") + ";0")
                assert violations(browser) == [], (scheme, width)
    finally:
        browser.command("Page.setBypassCSP", enabled=False)
