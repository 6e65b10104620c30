"""Documented facts, flows and limitations, compared with each other without a cluster.

For commands about the product itself. Reads shipped files and the user's suites and manifests.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nettests import expect
from nettests.conformance.vendor_files import VendorFiles, is_vendor_profile, read_vendor_files
from nettests.conformance.vendor_profile import claim_mistakes
from nettests.errors import ManifestError
from nettests.expect import Catalogue, Coverage, Limitation, Manifest
from nettests.plan import Flow, load
from nettests.resources import manifests_path, suites_path
from nettests.session.blueprint import read_manifests


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """Facts, flows and limitations, and which of them exercise each fact."""

    catalogue: Catalogue
    flows: tuple[Flow, ...]
    manifests: tuple[Manifest, ...]
    coverages: tuple[Coverage, ...]
    claims: tuple[ManifestError, ...] = ()
    """Mistakes in the claims of vendor profiles."""
    profiles: int = 0
    """How many profiles were read."""

    @property
    def by_fact(self) -> Mapping[str, Coverage]:
        """The coverage of each fact, by its id."""
        return {coverage.fact.id: coverage for coverage in self.coverages}

    @property
    def entries(self) -> tuple[Limitation, ...]:
        """All limitation entries."""
        return tuple(entry for manifest in self.manifests for entry in manifest.limitations)

    @property
    def mistakes(self) -> tuple[str, ...]:
        """One sentence for each fact that a flow or an entry names and the catalogue lacks."""
        return tuple(expect.unknown_facts(self.catalogue, facts_by_flow(self.flows), self.entries))

    @property
    def findings(self) -> tuple[str, ...]:
        """One sentence for each thing to repair in manifests, suites and catalogue."""
        return (
            *expect.lint(self.manifests, flows=[flow.name for flow in self.flows]),
            *self.mistakes,
            *expect.gaps(self.coverages),
            *(f"{claim.message}; {claim.hint}" for claim in self.claims),
        )


def survey(suites: Sequence[Path] = (), manifests: Sequence[Path] = ()) -> Survey:
    """Read everything; ``suites`` and ``manifests`` are the user's own, added to the shipped ones.

    A vendor profile among the manifests is read with all its files.
    """
    catalogue = read_catalogue()
    limitations, profiles = _split(manifests)
    brought = [read_vendor_files(path) for path in profiles]
    for files in brought:
        suites, limitations = files.beside_suites(suites), files.beside_limitations(limitations)
    flows = load([suites_path(), *suites]).flows
    read, _ = read_manifests(limitations)
    entries = [entry for manifest in read for entry in manifest.limitations]
    return Survey(
        catalogue=catalogue,
        flows=flows,
        manifests=read,
        coverages=expect.cover(catalogue, facts_by_flow(flows), entries),
        claims=tuple(mistake for files in brought for mistake in _mistakes(files, flows)),
        profiles=len(profiles),
    )


def _split(paths: Sequence[Path]) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Split paths, which may be folders of both, into limitation manifests and vendor profiles."""
    manifests: list[Path] = []
    profiles: list[Path] = []
    for path in paths:
        inside = [*path.rglob("*.yaml"), *path.rglob("*.yml")] if path.is_dir() else [path]
        vendor_profiles = sorted(file for file in inside if is_vendor_profile(file))
        profiles += vendor_profiles
        manifests += sorted({*inside} - {*vendor_profiles}) if vendor_profiles else [path]
    return tuple(manifests), tuple(profiles)


def _mistakes(files: VendorFiles, flows: Sequence[Flow]) -> Iterator[ManifestError]:
    declared = load(files.suites).declared
    yield from claim_mistakes(files.profile, {flow.name for flow in flows}, declared)


def read_catalogue() -> Catalogue:
    """Read the shipped catalogue of facts; ``ManifestError`` says what is wrong."""
    return expect.catalogue([expect.read_section(text, file) for file, text in _shipped()])


def facts_by_flow(flows: Sequence[Flow]) -> dict[str, tuple[str, ...]]:
    """Return the facts that each flow exercises, by the flow's name."""
    return {flow.name: flow.facts for flow in flows}


def _shipped() -> list[tuple[str, str]]:
    folder = manifests_path() / "catalogue"
    files = sorted(folder.glob("*.yaml"))
    if not files:
        raise ManifestError(
            f"the folder {folder} holds no YAML file",
            hint="reinstall nettests: its files are incomplete",
        )
    return [
        (f"manifests/catalogue/{file.name}", file.read_text(encoding="utf-8")) for file in files
    ]
