"""The blueprint of a run: manifests, plan and expectations, resolved again when nodes are read.

Pure except for reading manifests and the date; xdist workers compute the same from the controller's
facts. The plan depends on discovered facts only, because it decides which vantages exist. Facts
that only vantages can read are added before the first check (``learn``); the journal holds the
readings, the completed facts and each changed expectation.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from nettests import expect
from nettests.errors import ManifestError
from nettests.expect import Manifest
from nettests.model.check import Check, Plan
from nettests.model.expectation import Expectation
from nettests.model.facts import ClusterFacts
from nettests.model.journal_records import (
    Discovered,
    Limitations,
    ManifestFile,
    Planned,
    Reading,
    Revised,
    Skipped,
    UnusedLimitation,
    expectations_of_members,
)
from nettests.model.observation import NodeReading
from nettests.model.words import CheckClass
from nettests.outside_files import text_of
from nettests.parse.host_facts import completed
from nettests.plan import Choice, Flow, build, without_checks
from nettests.plan.node_pools import unusable
from nettests.resources import manifests_path
from nettests.session.journal import Journal


@dataclass(frozen=True, slots=True, kw_only=True)
class Blueprint:
    """What a run will test and what it expects: the same in every worker."""

    facts: ClusterFacts
    manifests: tuple[Manifest, ...]
    digests: tuple[ManifestFile, ...]
    plan: Plan
    expectations: dict[str, Expectation]
    remark: str = ""
    """That an enabled class has no check here, or nothing."""


ALL_CHECKS = Choice()
Read = tuple[tuple[Manifest, ...], tuple[ManifestFile, ...]]
"""Manifests, and the digests of their files."""


def read_manifests(user_paths: Sequence[Path] = ()) -> Read:
    """Read the shipped and the user's limitation manifests; ``ManifestError`` if one is invalid."""
    shipped = manifests_path() / "limitations"
    manifests, digests = [], []
    for path in [*_files(shipped), *(file for given in user_paths for file in _files(given))]:
        inside = path.is_relative_to(shipped)
        name = str(path.relative_to(shipped.parent.parent)) if inside else str(path)
        hint = "pass a file, or a folder that holds some, with --limitations"
        text = text_of(path, "manifest", hint)
        manifests.append(expect.read_manifest(text, name))
        digests.append(ManifestFile(file=name, sha256=hashlib.sha256(text.encode()).hexdigest()))
    return tuple(manifests), tuple(digests)


def blueprint(
    facts: ClusterFacts,
    flows: Iterable[Flow],
    manifests: Read,
    enabled: Collection[CheckClass] = (),
    choice: Choice = ALL_CHECKS,
) -> Blueprint:
    """Plan the chosen checks and resolve their expectations.

    ``manifests`` is what ``read_manifests`` returns; ``enabled`` are classes of checks to run
    besides ``default``.
    """
    read, digests = manifests
    flows = tuple(flows)
    plan = choice.of(build(facts, flows, enabled), facts)
    named = {check.flow for check in plan.checks} | {skip.flow for skip in plan.skips}
    return Blueprint(
        facts=facts,
        manifests=read,
        digests=digests,
        plan=plan,
        expectations=expect.resolve(plan.checks, facts, read, today=datetime.now(UTC).date()),
        remark=without_checks(enabled, (flow for flow in flows if flow.name in named)),
    )


def unused(
    manifests: Sequence[Manifest], expectations: Mapping[str, Expectation]
) -> tuple[UnusedLimitation, ...]:
    """Return the entries that apply to no check on this cluster, as journal records."""
    return tuple(
        UnusedLimitation(
            id=entry.id,
            summary=entry.summary,
            layer=entry.layer.name.lower(),
            file=entry.file,
            line=entry.line,
        )
        for entry in expect.unused(manifests, expectations)
    )


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted([*path.rglob("*.yaml"), *path.rglob("*.yml")])
    if not files:
        raise ManifestError(
            f"the folder {path} holds no manifest",
            hint="manifests end in .yaml or .yml; pass another folder with --limitations",
        )
    return files


RULE = "pod-families"
"""The rule of configuration that tests whether Pods have both."""


def documented(
    checks: Iterable[Check], expectations: Mapping[str, Expectation]
) -> Mapping[str, str]:
    """Return the limitation of the Pods' address families, by node pool.

    Empty if the run has no check of ``RULE``, or no limitation applies to it.
    """
    limitations: dict[str, str] = {}
    for check in checks:
        limitation = expectations[check.id].limitation
        actions = check.action.case is not None and check.action.case.label == RULE
        if actions and limitation is not None and check.source.pool is not None:
            limitations[check.source.pool] = limitation.id
    return limitations


def record_plan(blueprint: Blueprint, plan: Plan, journal: Journal) -> None:
    """Record the part of the plan that a run carries out, and which nodes it leaves out."""
    for check in plan.checks:
        expectation = blueprint.expectations[check.id]
        unlike = expectations_of_members(check, blueprint.expectations)
        journal.write(Planned(check=check, expectation=expectation, others=unlike))
    for skip in plan.skips:
        journal.write(Skipped(skip=skip))
    for node in blueprint.facts.nodes:
        if why := unusable(node):
            journal.event(f"node {node.name} is left out: {why}")


def learn(
    before: Blueprint,
    plan: Plan,
    readings: Sequence[NodeReading],
    journal: Journal,
    doubted: Callable[[NodeReading], NodeReading] = lambda reading: reading,
) -> Blueprint:
    """Return the blueprint with facts completed by readings, and expectations resolved on them.

    ``doubted`` drops settings whose instruments a calibration doubts. If entries contradict each
    other on the new facts, nothing changes, and an event says so.
    """
    for reading in readings:
        journal.write(Reading(reading=reading))
    facts = completed(before.facts, map(doubted, readings))
    if facts == before.facts:
        return before
    try:
        now = expect.resolve(
            before.plan.checks, facts, before.manifests, today=datetime.now(UTC).date()
        )
    except ManifestError as error:
        journal.event(f"what nodes say of themselves is left out: {error}", notable=True)
        return before
    journal.write(Discovered(facts=facts))
    for check in plan.checks:
        unlike = expectations_of_members(check, now)
        if now[check.id] != before.expectations[check.id] or unlike != expectations_of_members(
            check, before.expectations
        ):
            journal.write(Revised(check=check.id, expectation=now[check.id], others=unlike))
    journal.write(Limitations(unused=unused(before.manifests, now)))
    return replace(before, facts=facts, expectations=now)
