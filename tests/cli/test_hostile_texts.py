"""Commands on a cluster whose names and settings are attacks on the terminal that they are shown on."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner

from nettests.cli import (
    discover_commands,
    gc_command,  # noqa: F401 - loads the module
    main,
)
from nettests.cluster.leftovers import Leftover, State
from nettests.cluster.owner_marks import Ownership
from nettests.model.cluster_profile import ClusterProfile
from nettests.model.facts import ClusterFacts, known, unknown
from nettests.session.run_options import RunOptions
from tests.plan.clusters import mixed

NASTY = "x\x1b]0;owned\x07\x9b2J\u202e\u061c[red]\nNothing blocks a run."
OBEYED = "\x1b\x07\x9b\u202e\u061c"


@pytest.fixture
def hostile(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster that is hostile wherever it may choose a text."""

    def read(options: RunOptions, profile: ClusterProfile) -> ClusterFacts:
        facts = mixed()
        cni = replace(facts.cni, plugin=known(NASTY, NASTY), backend=unknown(NASTY))
        first = replace(facts.nodes[0], cni_driver=unknown(NASTY), runtime=known(NASTY, NASTY))
        nodes = (first, *facts.nodes[1:])
        return replace(facts, context=NASTY, cni=cni, nodes=nodes, denied=(NASTY,))

    monkeypatch.setattr(discover_commands, "read_facts", read)


@pytest.mark.usefixtures("hostile")
def test_discover_shows_and_obeys_nothing() -> None:
    """Each hostile value is one line in which its characters are named."""
    shown = CliRunner().invoke(main, ["discover"])
    assert shown.exit_code == 0
    assert not set(OBEYED) & set(shown.output)
    assert "context          x␛]0;owned␇⟨U+009B⟩2J⟨U+202E⟩⟨U+061C⟩[red]␊Nothing" in shown.output
    assert not [one for one in shown.output.splitlines() if one.startswith("Nothing")]


@pytest.mark.usefixtures("hostile")
def test_discover_gives_programs_the_very_text() -> None:
    """--json escapes what a terminal obeys, and a program that reads it has what the cluster said."""
    shown = CliRunner().invoke(main, ["discover", "--json"])
    assert not set(OBEYED) & set(shown.output)
    assert json.loads(shown.output)["context"] == NASTY


@pytest.mark.usefixtures("hostile")
@pytest.mark.parametrize("command", ["plan", "render", "images"])
def test_what_is_planned_obeys_nothing(command: str) -> None:
    """Plan, objects and images of a hostile cluster are plain text."""
    shown = CliRunner().invoke(main, [command, "--flow=pod-to-pod-ip"])
    assert shown.exit_code == 0, shown.output
    assert not set(OBEYED) & set(shown.output)


def test_gc_lists_a_hostile_namespace_on_its_own_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Owner, namespace and strangers of leftovers cannot forge a line of the list."""
    now = datetime.now(UTC)
    marks = Ownership(run="abc", owner=NASTY, created=now, expires=now + timedelta(hours=1))
    left = Leftover(
        ownership=marks, namespace=NASTY, own_namespace=True, state=State.ALIVE, strangers=(NASTY,)
    )

    class Quiet:
        def close(self) -> None: ...

    monkeypatch.setattr("nettests.cli.gc_command.connect", lambda *_: Quiet())
    monkeypatch.setattr("nettests.cli.gc_command.find", lambda *_, **__: [left])
    shown = CliRunner().invoke(main, ["gc"])
    assert not set(OBEYED) & set(shown.output)
    assert len(shown.output.splitlines()) == 2
