"""The blueprint of a run: manifests read, checks planned, expectations resolved.

Pure but for reading the manifests' files and the date; xdist workers compute the same from the controller's facts.
Contacts nothing.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from nettests import expect
from nettests.errors import ManifestError
from nettests.expect import Manifest
from nettests.model.check import Plan
from nettests.model.expectation import Expectation
from nettests.model.facts import ClusterFacts
from nettests.model.journal_records import ManifestFile, UnusedLimitation
from nettests.model.words import CheckClass
from nettests.outside_files import text_of
from nettests.plan import Choice, Flow, build
from nettests.resources import manifests_path


@dataclass(frozen=True, slots=True, kw_only=True)
class Blueprint:
    """What a run will test and what should come of it: the same in every worker."""

    facts: ClusterFacts
    manifests: tuple[Manifest, ...]
    digests: tuple[ManifestFile, ...]
    plan: Plan
    expectations: dict[str, Expectation]


ALL_CHECKS = Choice()
Read = tuple[tuple[Manifest, ...], tuple[ManifestFile, ...]]
"""Manifests, and what their files were made of."""


def read_manifests(user_paths: Sequence[Path] = ()) -> Read:
    """Read the shipped limitation manifests and the user's own; ``ManifestError`` says what is wrong."""
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
    """Plan, take what was chosen, and resolve.

    ``manifests`` are as ``read_manifests`` returns them; ``enabled`` are the classes of checks that are
    tested besides ``default``.
    """
    read, digests = manifests
    plan = choice.of(build(facts, flows, enabled), facts)
    return Blueprint(
        facts=facts,
        manifests=read,
        digests=digests,
        plan=plan,
        expectations=expect.resolve(plan.checks, facts, read, today=datetime.now(UTC).date()),
    )


def unused(
    manifests: Sequence[Manifest], expectations: Mapping[str, Expectation]
) -> tuple[UnusedLimitation, ...]:
    """Return the entries that decide nothing on a cluster, as its journal names them."""
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
