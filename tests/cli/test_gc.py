"""``nettests gc``: what is said of each leftover, what is removed, and how it ends.

What runs left is stated; finding and removing it are tests of ``cluster``, and on a lab those of ``session``.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from nettests.cli import main
from nettests.cli.gc_command import _span, _until
from nettests.cluster.leftovers import Leftover, State
from nettests.cluster.owner_marks import Ownership
from tests.cluster.api import Reply, serving, write_kubeconfig

Find = Callable[..., Result]
RUN = "20261121-140412-ab12"
NAMESPACE = f"nettests-{RUN}"
COLLECTED = datetime.now(UTC)
"""When the leftovers below were dated: their tests may run much later."""


def marks(
    *, age: timedelta = timedelta(hours=1), left: timedelta = timedelta(hours=5)
) -> Ownership:
    """Return the marks of a run that began so long ago, and expires in so long."""
    now = COLLECTED
    # Half a second is lost on the way to the line; the numbers stay what they are.
    return Ownership(
        run=RUN, owner="me.here", created=now - age, expires=now + left + timedelta(seconds=9)
    )


DEAD = Leftover(
    ownership=marks(),
    namespace=NAMESPACE,
    own_namespace=True,
    state=State.DEAD,
    objects=("pods/a", "services/b"),
)
ALIVE = replace(DEAD, state=State.ALIVE)
KEPT = replace(DEAD, state=State.KEPT)
STRANGE = replace(DEAD, strangers=("pods/theirs",))
UNSEEN = replace(DEAD, unseen=("secrets: status 403",))
BORROWED = replace(DEAD, own_namespace=False, namespace="theirs")


def _dated(one: Leftover) -> Leftover:
    """Return a leftover that is now as old as it was stated to be."""
    later, own = datetime.now(UTC) - COLLECTED, one.ownership
    return replace(
        one, ownership=replace(own, created=own.created + later, expires=own.expires + later)
    )


@pytest.fixture
def gc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Find:
    """Call gc for stated leftovers, whose removal ends with stated problems."""
    module = import_module("nettests.cli.gc_command")

    def call(*found: Leftover, words: tuple[str, ...] = (), problems: Any = ()) -> Result:
        removed: list[str] = []

        def remove(_: object, places: list[Leftover], **more: object) -> dict[str, str]:
            removed.extend(place.namespace for place in places)
            return {one: why for one, why in dict(problems).items() if one in removed}

        monkeypatch.setattr(module, "find", lambda connection, **more: tuple(map(_dated, found)))
        monkeypatch.setattr(module, "remove", remove)
        with serving(lambda _: Reply(body={"gitVersion": "v1.29.4"})) as api:
            kubeconfig = write_kubeconfig(tmp_path / "kubeconfig", api.url)
            done = CliRunner().invoke(main, ["gc", f"--kubeconfig={kubeconfig}", *words])
        assert ("--yes" in words) or not removed
        return done

    return call


def test_nothing_left_is_said(gc: Find) -> None:
    """Exit code 0, with --yes too."""
    for words in ((), ("--yes",)):
        done = gc(words=words)
        assert (done.exit_code, done.output) == (0, "No run has left anything.\n")


def test_what_would_go_is_shown_and_stays(gc: Find) -> None:
    """Without --yes nothing is removed; the last line says how to."""
    lines = gc(DEAD).output.splitlines()
    assert lines[0].startswith(f"{RUN}  dead        namespace {NAMESPACE}  2 objects  me.here  ")
    assert lines[0].endswith("created 60 min ago, expires in 5 h")
    assert (
        lines[1]
        == "  may go: the Lease of its run is no longer renewed; everything in it belongs to the run"
    )
    assert lines[2] == "Nothing was removed. Remove what 1 dead run left: nettests gc --yes"
    assert gc(DEAD).exit_code == 0


def test_what_goes_is_counted_by_runs(gc: Find) -> None:
    """A run may have left two namespaces; it is one dead run."""
    second = replace(DEAD, namespace=f"{NAMESPACE}-baseline")
    done = gc(DEAD, second, words=("--yes",))
    assert done.exit_code == 0
    assert done.output.splitlines()[-1] == "Removed the leftovers of 1 dead run."
    other = replace(DEAD, ownership=replace(DEAD.ownership, run="x"), namespace="nettests-x")
    assert "of 2 dead runs." in gc(DEAD, other, words=("--yes",)).output


@pytest.mark.parametrize(
    ("left", "stays"),
    [
        (ALIVE, "its run lives"),
        (KEPT, f"its run was told to keep it; remove it with: nettests gc --run {RUN} --yes"),
        (STRANGE, (f"it holds objects of others: pods/theirs; if your cluster puts them into each namespace: nettests gc --ignore pods/theirs; "
             f"else look at it, then: kubectl delete namespace {NAMESPACE}")),
        (UNSEEN, f"it could not be looked into: secrets: status 403; look at it, then: kubectl delete namespace {NAMESPACE}"),
        (replace(STRANGE, unseen=("secrets",)),
         (f"it holds objects of others: pods/theirs; if your cluster puts them into each namespace: nettests gc --ignore pods/theirs; "
             f"else look at it, then: kubectl delete namespace {NAMESPACE}")),
        (replace(STRANGE, namespace="prod", copied=f"it carries the marks of run {RUN}, but not its name"),
         f"it carries the marks of run {RUN}, but not its name; no run owns it: remove its labels nettests.dev/… if they are in the way"),
        (replace(DEAD, strangers=("widget/$(id)",)),
         (f"it holds objects of others: widget/$(id); if your cluster puts them into each namespace: nettests gc --ignore 'widget/$(id)'; "
             f"else look at it, then: kubectl delete namespace {NAMESPACE}")),
        (replace(DEAD, spared="another place of its run stays"), "another place of its run stays"),
    ],
    ids=["alive", "kept", "strangers", "unseen", "both", "forged", "shell", "spared"],
)  # fmt: skip
def test_what_stays_is_told_with_the_reason_and_the_next_step(
    gc: Find, left: Leftover, stays: str
) -> None:
    """With --yes it ends with 1 where it ought to go: what lives, was kept, or is no run's, ought not; names are quoted for a shell."""
    done = gc(left)
    assert (done.exit_code, done.output.splitlines()[1]) == (0, f"  stays: {stays}")
    ought_to_go = left.state is State.DEAD and not left.copied
    assert gc(left, words=("--yes",)).exit_code == int(ought_to_go)


@pytest.mark.parametrize(
    ("left", "why"),
    [
        (BORROWED, "the Lease of its run is no longer renewed; only objects with the run's labels are removed"),
        (replace(DEAD, state=State.EXPIRED), "it was kept, and has expired; everything in it belongs to the run"),
        (replace(KEPT, named=True), "its run was named; everything in it belongs to the run"),
        (replace(DEAD, state=State.TERMINATING),
         "it is terminating, and no Lease of its run is renewed"),
    ],
    ids=["borrowed", "expired", "named", "terminating"],
)  # fmt: skip
def test_why_something_may_go_is_told(gc: Find, left: Leftover, why: str) -> None:
    """By what is known of its run, and whose namespace it is in."""
    first, second, *_ = gc(left).output.splitlines()
    assert second == f"  may go: {why}"
    assert ("in namespace theirs" in first) is (left is BORROWED)


def test_a_removal_that_failed_is_told_and_ends_with_1(gc: Find) -> None:
    """What went is counted without it."""
    done = gc(DEAD, words=("--yes",), problems={NAMESPACE: "a finalizer holds it"})
    assert done.exit_code == 1
    assert f"{NAMESPACE}: a finalizer holds it" in done.output
    assert "Removed" not in done.output


def test_only_the_run_that_is_named_is_shown(gc: Find) -> None:
    """Others may be dead as well."""
    other = replace(DEAD, ownership=replace(DEAD.ownership, run="x"), namespace="nettests-x")
    assert gc(DEAD, other, words=("--run=x",)).output.count("may go") == 1
    assert "nettests-x" in gc(DEAD, other, words=("--run=x",)).output


@pytest.mark.parametrize(
    ("length", "told"),
    [
        (timedelta(seconds=119), "119 s"),
        (timedelta(minutes=2), "2 min"),
        (timedelta(minutes=119), "119 min"),
        (timedelta(hours=2), "2 h"),
        (timedelta(hours=47, minutes=59), "47 h"),
        (timedelta(days=2), "2 d"),
        (timedelta(seconds=-50), "0 s"),
    ],
)
def test_times_are_told_in_one_unit(length: timedelta, told: str) -> None:
    """The largest of which there are two; a clock that is ahead makes no time negative."""
    assert _span(length) == told
    expected = f"expires in {told}" if length > timedelta() else "expired"
    assert _until(length) == expected


def test_as_json_everything_is_told_once(gc: Find) -> None:
    """One object, nothing else: state, reason and what became of it."""
    done = gc(DEAD, KEPT, words=("--yes", "--json"), problems={})
    first, second = json.loads(done.output)["leftovers"]
    assert (first["run"], first["owner"], first["state"]) == (RUN, "me.here", "dead")
    assert (first["removable"], first["removed"], first["reason"]) == (True, True, None)
    assert (second["removable"], second["reason"]) == (False, "its run was told to keep it")
    assert first["objects"] == ["pods/a", "services/b"]
    assert datetime.fromisoformat(first["expires"]) > datetime.now(UTC)
    failed = gc(DEAD, words=("--yes", "--json"), problems={NAMESPACE: "held"})
    assert failed.exit_code == 1
    (only,) = json.loads(failed.output)["leftovers"]
    assert (only["removed"], only["problem"]) == (False, "held")
    (listed,) = json.loads(gc(DEAD, words=("--json",)).output)["leftovers"]
    assert (listed["removable"], listed["removed"], listed["problem"]) == (True, False, None)
