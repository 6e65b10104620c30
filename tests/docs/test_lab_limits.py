"""The lab's limits are one document, made of what each package says, and name code that is there."""

import re
from importlib import import_module

import pytest

from scripts.lab_limits import LAB, TITLES, document

pytestmark = pytest.mark.lab


def test_the_document_is_up_to_date() -> None:
    """``LIMITS.md`` is what ``scripts/lab_limits.py`` makes of the packages' texts."""
    assert (LAB / "LIMITS.md").read_text("utf-8") == document()


def test_no_package_is_left_out() -> None:
    """Every text of a package is a section of the document."""
    assert {path.parent.name for path in LAB.glob("*/LIMITS.txt")} == TITLES.keys()


def test_code_that_claims_name_exists() -> None:
    """A claim that names code, as ``module:symbol``, names what the lab has."""
    # sample: `controllers.workloads:reconcile_stateful_set`
    named = re.findall(r"`([a-z_]+(?:\.[a-z_]+)+):(\w+)`", document())
    assert named != []
    missing = [
        (module, symbol)
        for module, symbol in named
        if not hasattr(import_module(f"nettests.lab.{module}"), symbol)
    ]
    assert missing == []
