"""``nettests preflight``: how findings are printed, and how it ends.

Findings are stated here; what is found is decided by ``preflight``, and read on a lab by tests of acceptance.
"""

import json
from collections.abc import Callable
from importlib import import_module

import pytest
from click.testing import CliRunner, Result

from nettests.cli import main
from nettests.model.permission import LIST_NODES
from nettests.preflight import Finding, Level
from nettests.session.preflight_evidence import Preflight

Look = Callable[..., Result]
WELL = Finding(topic="version", level=Level.OK, summary="all is well", next_step="nothing")
NOTE = Finding(topic="families", level=Level.NOTE, summary="IPv4 alone", details=("one", "two"))
WARNING = Finding(
    topic="images", level=Level.WARNING, summary="none is known", next_step="look there"
)
BLOCKER = Finding(
    topic="nodes", level=Level.BLOCKER, summary="no node is Ready", next_step="mend it"
)
QUOTA = Finding(topic="quota", level=Level.BLOCKER, summary="it is full")


@pytest.fixture
def look(monkeypatch: pytest.MonkeyPatch) -> Look:
    """Call preflight for stated findings."""
    module = import_module("nettests.cli.preflight_command")

    def call(*findings: Finding, words: tuple[str, ...] = (), missing: bool = False) -> Result:
        found = Preflight(findings=findings, missing=(LIST_NODES,) if missing else ())
        monkeypatch.setattr(module, "look", lambda options, flows: found)
        return CliRunner().invoke(main, ["preflight", *words])

    return call


def said(done: Result) -> list[str]:
    """Return the lines, their columns parted by one space."""
    return [" ".join(line.split()) for line in done.output.splitlines()]


def test_findings_are_a_table_with_their_next_steps(look: Look) -> None:
    """A line each, details below, and a step where something is to be done."""
    assert said(look(WELL, NOTE, WARNING)) == [
        "ok version all is well",
        "note families IPv4 alone",
        "one",
        "two",
        "warning images none is known",
        "→ look there",
        "Nothing blocks a run, with 1 warning.",
    ]


@pytest.mark.parametrize(
    ("findings", "code", "last"),
    [
        ((WELL,), 0, "Nothing blocks a run."),
        ((NOTE,), 0, "Nothing blocks a run."),
        ((WARNING, WARNING), 0, "Nothing blocks a run, with 2 warnings."),
        ((WARNING, BLOCKER), 1, "A run is blocked by: nodes."),
        ((BLOCKER, QUOTA), 1, "A run is blocked by: nodes, quota."),
    ],
)
def test_the_last_line_and_the_exit_code_agree(
    look: Look, findings: tuple[Finding, ...], code: int, last: str
) -> None:
    """Only a blocker ends it with 1."""
    done = look(*findings)
    assert (done.exit_code, said(done)[-1]) == (code, last)
    assert look(*findings, words=("--quiet",)).exit_code == code


def test_quiet_says_only_what_is_not_well(look: Look) -> None:
    """Warnings and blockers; nothing at all where all is well."""
    assert said(look(WELL, NOTE, WARNING, BLOCKER, words=("--quiet",), missing=True)) == [
        "warning images none is known",
        "→ look there",
        "blocker nodes no node is Ready",
        "→ mend it",
    ]
    assert look(WELL, NOTE, words=("-q",)).output == ""


def test_rules_that_are_missing_are_printed_to_be_applied(look: Look) -> None:
    """As YAML of the very roles that grant them."""
    text = look(WELL, missing=True).output
    assert "The rules that are missing:" in text
    assert "kind: ClusterRole" in text
    assert "nodes" in text.partition("The rules that are missing:")[2]
    assert "missing" not in look(WELL).output


def test_as_json_it_is_one_object(look: Look) -> None:
    """Every finding with all its parts, and whether a run is blocked."""
    done = look(NOTE, BLOCKER, words=("--json",), missing=True)
    data = json.loads(done.output)
    assert done.exit_code == 1
    assert (data["apiVersion"], data["kind"], data["blocked"]) == (
        "nettests.dev/v1alpha1",
        "Preflight",
        True,
    )
    assert data["findings"] == [
        {"topic": "families", "level": "note", "summary": "IPv4 alone", "details": ["one", "two"], "nextStep": ""},
        {"topic": "nodes", "level": "blocker", "summary": "no node is Ready", "details": [], "nextStep": "mend it"},
    ]  # fmt: skip
    assert data["missing"]
    assert json.loads(look(WELL, words=("--json",)).output)["blocked"] is False
