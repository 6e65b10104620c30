"""The file: written, read again, and refused with its line where it is wrong."""

import pytest
from jsonschema import Draft202012Validator

from nettests.baseline.entries import Baseline, read_baseline, render_baseline
from nettests.errors import ManifestError
from nettests.model.words import Distribution, Outcome, SourceSeen, Verdict
from nettests.resources import schema_of
from tests.baseline.runs import baseline, entries, of_members, run, with_check

GOOD = """\
apiVersion: nettests.dev/v1alpha1
kind: Baseline
entries:
  - check: pod-to-pod-ip/a
    verdict: fail
    outcome: timed_out
    facts: {Kubernetes: "1.24.17", source build: "17763.1339"}
    reason: ticket 4711
    expires: "2026-12-31"
"""


def test_the_schema_is_a_schema() -> None:
    """And its closed sets are the code's."""
    Draft202012Validator.check_schema(schema_of("baseline"))
    of = schema_of("baseline")["properties"]["entries"]["items"]["properties"]
    for key, words in (
        ("outcome", Outcome),
        ("source_seen", SourceSeen),
        ("distribution", Distribution),
    ):
        assert of[key]["enum"] == [one.value for one in words]
    assert set(of["verdict"]["enum"]) == {"fail", "lifted", "flaky", "recorded", "limited"}


def test_what_is_written_is_read_again() -> None:
    """All of it, whatever is in an entry."""
    check = of_members(Verdict.FAIL, **{"win-1 → linux-1": Verdict.FAIL, "b": Verdict.FLAKY})
    made = Baseline(file="x", entries=entries(with_check(run(), check)))
    again = read_baseline(render_baseline(made), "x")
    assert sorted(again.entries, key=lambda one: one.check) == sorted(
        made.entries, key=lambda one: one.check
    )


def test_it_is_written_in_one_order() -> None:
    """A second run changes the lines of its own entries alone."""
    made = baseline(run())
    turned = Baseline(file="x", entries=made.entries[::-1])
    assert render_baseline(made) == render_baseline(turned)


def test_a_file_that_people_wrote_is_read() -> None:
    """Facts by their names; what is left out is nothing."""
    (one,) = read_baseline(GOOD, "b.yaml").entries
    assert [(fact.side, fact.name) for fact in one.facts] == [
        ("", "Kubernetes"),
        ("source", "build"),
    ]
    assert (one.run, dict(one.members)) == ("", {})
    assert read_baseline("apiVersion: nettests.dev/v1alpha1\nkind: Baseline\nentries: []\n", "b").entries == ()  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("kind: Baseline", "kind: LimitationManifest", "b.yaml:2"),
        ("verdict: fail", "verdict: pass", "'pass' is not one of the valid values"),
        ("outcome: timed_out", "outcome: timedout", "did you mean 'timed_out'"),
        ("reason: ticket 4711", "reason: ''", "b.yaml:8"),
        ("    reason: ticket 4711\n", "", "reason is missing"),
        ("2026-12-31", "2026-02-30", "b.yaml:9: entries.0.expires: no such date"),
        ("2026-12-31", "never", "b.yaml:9"),
        ("source build", "source bild", "no such fact: 'source bild'"),
        ("source build", "source biuld", "did you mean 'source build'"),
        ('"1.24.17"', "1.24", "write a version in quotes"),
        ("verdict: fail", "verdict: fail\n    because: x", "unknown key 'because'"),
        ("entries:\n", "entries:\n  - {check: pod-to-pod-ip/a, verdict: flaky, reason: x, expires: '2026-01-01'}\n", "is listed twice, first in line 4"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(old: str, new: str, said: str) -> None:
    """File, line and key, and the nearest valid word."""
    assert old in GOOD
    with pytest.raises(ManifestError) as caught:
        read_baseline(GOOD.replace(old, new, 1), "b.yaml")
    assert said in str(caught.value)
