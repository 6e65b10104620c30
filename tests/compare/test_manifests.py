"""Other manifests, the same cluster: changes are explained by the files that changed, and by nothing else."""

from dataclasses import replace

import pytest

from nettests.compare.changes import Explained, Kind
from nettests.compare.difference import difference
from nettests.compare.recorded import Expecting, RecordedCheck, RecordedRun, Seen
from nettests.model.expectation import AppliedLimitation, Source
from nettests.model.journal_records import ManifestFile
from nettests.model.words import Category, Verdict
from tests.compare.runs import quiet_run
from tests.facts import cluster_facts

FACTS = cluster_facts("win2019-l2bridge")
OWN, OTHER = "manifests/site.yaml", "manifests/base.yaml"
ENTRY = AppliedLimitation(
    id="ours",
    summary="Ours",
    layer="site",
    category=Category.BY_DESIGN,
    mechanism="A test.",
    sources=(Source(document="A guide"),),
    because=("source runs windows", "Kubernetes in >=1.20: 1.24.17 (the API server)"),
    file=OWN,
    line=1,
)
CLAIM = Expecting(outcome="connected", claim="connected", text="connected")
DEVIATION = Expecting(outcome="timed_out", claim="connected", text="timed_out")


def run(*checks: RecordedCheck, nettests: str = "0.1.0", **digests: str) -> RecordedRun:
    """A run by its checks, and the digests of its two manifests."""
    files = {OWN: digests.get("own", "a"), OTHER: digests.get("other", "a")}
    manifests = tuple(ManifestFile(file=file, sha256=word * 64) for file, word in files.items())
    made = quiet_run(FACTS)
    told = replace(made.run, manifests=manifests, nettests=nettests)
    return replace(made, run=told, checks=checks, incidents=())


def check(verdict: str, expected: Expecting, seen: str = "timed_out") -> RecordedCheck:
    limited = expected is DEVIATION
    return RecordedCheck(
        id="flow/a",
        flow="flow",
        verdict=Verdict(verdict),
        expected=expected,
        observed=Seen(outcome=seen),
        limitation=ENTRY if limited else None,
    )


FAILED, ACCEPTED = check("fail", CLAIM), check("limited", DEVIATION)


def test_a_failure_that_somebody_documented_is_repaired_by_the_manifest() -> None:
    """The file of the entry that decides now is the cause, whatever else changed in other files."""
    found = difference(run(FAILED), run(ACCEPTED, own="b", other="b"))
    (one,) = found.of(Kind.REPAIRED)
    assert one.why is not None
    assert one.why.explained is Explained.EXPLAINED
    assert [cause.fact for cause in one.why.causes] == [f"manifest {OWN}"]


def test_a_limitation_that_another_file_takes_away_is_explained_by_that_file() -> None:
    """An entry that only cancels shows in no check: the manifest that changed is all that is known."""
    found = difference(run(ACCEPTED), run(FAILED, other="b"))
    (one,) = found.of(Kind.NEW_FAILURE)
    assert one.why is not None
    assert [cause.fact for cause in one.why.causes] == [f"manifest {OTHER}"]
    assert "the cluster did not" in one.why.text


def test_another_expectation_without_another_manifest_is_unexplained() -> None:
    """Nothing that is recorded tells why, and that is said."""
    found = difference(run(ACCEPTED), run(FAILED))
    assert found.unexplained == found.changed
    (one,) = found.changed
    assert one.why is not None
    assert "no recorded fact or manifest" in one.why.text


def test_other_manifests_explain_no_change_where_the_same_is_expected() -> None:
    """A file was edited, and a check that expects the same fails: that is no explanation."""
    passed = check("pass", CLAIM, "connected")
    found = difference(run(passed), run(FAILED, own="b", other="b"))
    assert [one.id for one in found.unexplained] == ["flow/a"]


@pytest.mark.parametrize(("version", "explained"), [("0.2.0", True), ("0.1.0", False)])
def test_another_claim_is_that_of_another_nettests(version: str, *, explained: bool) -> None:
    """Suites come with nettests: its version is the cause where a claim changed."""
    claim = replace(CLAIM, claim="refused", outcome="refused")
    passed = check("pass", CLAIM, "connected")
    found = difference(run(passed), run(check("limited", claim, "refused"), nettests=version))
    (one,) = found.changed
    assert one.why is not None
    assert (one.why.explained is Explained.EXPLAINED) is explained
    assert [cause.fact for cause in one.why.causes] == (["nettests"] if explained else [])
