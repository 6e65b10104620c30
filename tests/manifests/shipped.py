"""The shipped limitation manifests resolved on clusters: every check of the shipped suites."""

from collections.abc import Iterable
from functools import cache

from nettests import expect
from nettests.expect import Limitation, Manifest
from nettests.model.check import Check
from nettests.model.check_id import member_of
from nettests.model.expectation import Expectation
from nettests.model.facts import ClusterFacts
from nettests.model.words import CheckClass
from nettests.plan import Flow, build, load
from nettests.resources import manifests_path, suites_path

FOLDER = manifests_path() / "limitations"
FILES = sorted(FOLDER.rglob("*.yaml"))


@cache
def manifests() -> tuple[Manifest, ...]:
    """Return the shipped manifests."""
    return tuple(
        expect.read_manifest(file.read_text(encoding="utf-8"), str(file.relative_to(FOLDER)))
        for file in FILES
    )


def entries() -> tuple[Limitation, ...]:
    """Return all shipped entries."""
    return tuple(entry for manifest in manifests() for entry in manifest.limitations)


@cache
def flows() -> tuple[Flow, ...]:
    """Return the flows that the shipped suites declare."""
    return tuple(load(sorted(suites_path().glob("*.py"))).flows)


@cache
def planned(facts: ClusterFacts) -> tuple[Check, ...]:
    """Return all checks of the shipped suites on a cluster, those of every class."""
    return build(facts, flows(), frozenset(CheckClass)).checks


def expectations(
    facts: ClusterFacts, used: Iterable[Manifest] | None = None
) -> dict[str, Expectation]:
    """Return what manifests, the shipped ones unless said, expect of every check on a cluster."""
    return _shipped(facts) if used is None else expect.resolve(planned(facts), facts, tuple(used))


@cache
def _shipped(facts: ClusterFacts) -> dict[str, Expectation]:
    return expect.resolve(planned(facts), facts, manifests())


def expected_at(facts: ClusterFacts, check: str) -> str:
    """Return what is expected of a check, with the entry that says so."""
    one = expectations(facts)[check]
    named = f"{one.limitation.id}: " if one.limitation else ""
    return f"{named}{one.expected or 'unspecified'}"


def deciding(facts: ClusterFacts) -> dict[str, str]:
    """Return, by check, the limitation that decides it, and what is then expected."""
    return {
        check: f"{found.limitation.id}: {found.expected or 'unspecified'}"
        for check, found in expectations(facts).items()
        if found.limitation is not None and not member_of(check)
    }
