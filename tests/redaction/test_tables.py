"""Secrets of many shapes go and nothing before them; texts that explain a network stay as they are."""

import re
from pathlib import Path

import pytest

from nettests.redaction import REDACTED, Redactor

TABLES = Path(__file__).parent
ROW = re.compile(r"(?P<before>.*?)⟦(?P<secret>.*)⟧(?P<after>.*)", re.DOTALL)


def rows(name: str) -> list[str]:
    """Return the texts of a table."""
    lines = (TABLES / name).read_text("utf-8").splitlines()
    return [line.replace("⏎", "\n") for line in lines if line and not line.startswith("# ")]


SECRETS, READABLE = rows("secrets.txt"), rows("readable.txt")


@pytest.mark.parametrize("row", SECRETS)
def test_a_secret_goes(row: str) -> None:
    """Wherever it stands in a longer text: what a name, a tool, a format or its own letters make one."""
    match = ROW.fullmatch(row)
    assert match is not None
    text = f"{match['before']}{match['secret']}{match['after']}"
    for around in ("{}", "eth0 is up\n{}\nroute 10.0.0.0/8", "x\r\n{}\r\n"):
        redacted = Redactor().text(around.format(text))
        assert REDACTED in redacted
        assert match["secret"] not in redacted
        assert "hunter2" not in redacted


@pytest.mark.parametrize("row", READABLE)
def test_what_explains_a_network_stays(row: str) -> None:
    """Prose, flags, addresses, objects and hashes that only resemble secrets."""
    for around in ("{}", "eth0 is up\n{}\nroute 10.0.0.0/8"):
        text = around.format(row)
        assert Redactor().text(text) == text


def test_the_tables_are_whole() -> None:
    """So many rows of each: fewer were lost by an edit."""
    assert (len(SECRETS) > 170, len(READABLE) > 90) == (True, True)
