"""The vendor profile: a vendor's claims about a network plugin, as values. YAML, validated by line.

First step of ``conformance``. It lists the claimed flows and the supported clusters; a run shows
whether the claims hold. Flows, suites and packages are only names here:
``conformance.vendor_files`` finds them. ``lint`` compares claims with existing flows, too.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from nettests.errors import ManifestError
from nettests.model.document import Document, read_document
from nettests.model.labels import document_version
from nettests.model.nearest import nearest
from nettests.model.versions import KubernetesVersion, VersionRange, WindowsBuild
from nettests.model.visible import visible
from nettests.resources import schema_of

API_VERSION = document_version("v1alpha1")
KIND = "VendorProfile"


class Level(StrEnum):
    """How strongly a vendor claims a feature."""

    CORE = "core"
    EXTENDED = "extended"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """Flows under one name; ``reason`` is for unsupported ones, ``line`` is that in the file."""

    name: str
    level: Level
    flows: tuple[str, ...]
    summary: str = ""
    reason: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Implementation:
    """The plugin and its maintainer, as the vendor states them."""

    organization: str
    project: str
    url: str
    version: str
    contact: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRange:
    """Supported Windows builds: ``text`` as the vendor wrote it."""

    text: str
    range: VersionRange

    def holds(self, build: WindowsBuild) -> bool | None:
        """Whether a build is inside; ``None`` if that depends on an unknown patch level."""
        if not build.patch_known and self.range.decides_by_patch(build):
            return None
        return self.range.holds(build)


@dataclass(frozen=True, slots=True, kw_only=True)
class Supports:
    """The clusters that the claims cover; without ``backends``, any backend."""

    kubernetes: VersionRange
    builds: tuple[BuildRange, ...]
    drivers: tuple[str, ...]
    backends: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """A path or package of the vendor's own in a profile: as written, and its line."""

    name: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorProfile:
    """One vendor profile. ``plugin`` is spelled as in discovery."""

    file: str
    text: str
    """The profile as read: reports contain it."""
    implementation: Implementation
    plugin: str
    supports: Supports
    features: tuple[Feature, ...]
    suites: tuple[Own, ...] = ()
    limitations: tuple[Own, ...] = ()
    packages: tuple[Own, ...] = ()

    @property
    def has_own_files(self) -> bool:
        """Whether the vendor has suites or limitations."""
        return bool(self.suites or self.limitations or self.packages)

    def of(self, level: Level) -> tuple[Feature, ...]:
        """Return the features of a level."""
        return tuple(feature for feature in self.features if feature.level is level)


def read_vendor_profile(text: str, file: str) -> VendorProfile:
    """Return the profile in ``text``; ``ManifestError`` names file, line, key and nearest key."""
    # Reports publish a profile's text unchanged.
    for number, line in enumerate(text.split("\n"), start=1):
        if hidden := next((visible(letter) for letter in line if visible(letter) != letter), ""):
            raise ManifestError(
                f"{file}:{number}: there is a hidden character: {hidden}",
                hint="write UTF-8 with Unix line ends, and no control characters",
            )
    document = read_document(text, file, schema_of("vendor-profile"))
    data = document.data
    maker, supports = data["implementation"], data["supports"]
    files = {key: _own(document, key) for key in ("suites", "limitations", "packages")}
    return VendorProfile(
        file=file,
        text=text,
        implementation=Implementation(**{**maker, "contact": tuple(maker["contact"])}),
        plugin=data["plugin"],
        supports=Supports(
            kubernetes=_range(document, ("kubernetes",), supports["kubernetes"]),
            builds=tuple(
                _builds(document, ("builds", index), text)
                for index, text in enumerate(supports["builds"])
            ),
            drivers=tuple(supports["drivers"]),
            backends=tuple(supports.get("backends", ())),
        ),
        features=_features(document, data["features"]),
        **files,
    )


def _own(document: Document, key: str) -> tuple[Own, ...]:
    names = document.data.get(key, ())
    return tuple(
        Own(name=name, line=document.line((key, index))) for index, name in enumerate(names)
    )


def _features(document: Document, items: Any) -> tuple[Feature, ...]:
    by_name: dict[str, Feature] = {}
    owners: dict[str, Feature] = {}
    for index, data in enumerate(items):
        feature = _feature(document, index, data)
        if first := by_name.get(feature.name.lower()):
            raise document.error(
                ("features", index, "name"),
                f"the feature {feature.name} is listed twice, first in line {first.line}",
                hint="put the flows of both under one of them",
            )
        for at, flow in enumerate(feature.flows):
            if other := owners.get(flow):
                raise document.error(
                    ("features", index, "flows", at),
                    f"the flow {flow} is claimed twice: by {feature.name} and, in line {other.line}, by {other.name}",
                    hint="leave it in one of them: a flow has one level",
                )
            owners[flow] = feature
        by_name[feature.name.lower()] = feature
    if not any(feature.level is Level.CORE for feature in by_name.values()):
        raise document.error(
            ("features",),
            "no feature has the level core",
            hint="name what nobody should run the plugin without, with level: core",
        )
    return tuple(by_name.values())


def _feature(document: Document, index: int, data: Any) -> Feature:
    path, name, level = ("features", index), data["name"], Level(data["level"])
    summary, reason = (" ".join(data.get(key, "").split()) for key in ("summary", "reason"))
    if level is Level.UNSUPPORTED and not reason:
        raise document.error(
            path,
            f"{name} is unsupported, and its reason is missing",
            hint="say why: a reader of the report sees it beside the feature",
        )
    if level is not Level.UNSUPPORTED and reason:
        raise document.error(
            (*path, "reason"),
            f"{name} is {level.value}, and only what is unsupported has a reason",
            hint="describe it in summary, or make it unsupported",
        )
    return Feature(
        name=name,
        level=level,
        flows=tuple(data["flows"]),
        summary=summary,
        reason=reason,
        line=document.line(path),
    )


def _range(document: Document, path: tuple[str | int, ...], text: str) -> VersionRange:
    try:
        return VersionRange.parse(text, KubernetesVersion)
    except ValueError as error:
        raise document.error(("supports", *path), str(error)) from error


def _builds(document: Document, path: tuple[str | int, ...], text: str) -> BuildRange:
    # sample: "20348"
    alone = re.fullmatch(r"\d{5}", text)
    written = f">={text} <{int(text) + 1}" if alone else text
    try:
        return BuildRange(text=text, range=VersionRange.parse(written, WindowsBuild))
    except ValueError as error:
        hint = 'a build with any patch level is "20348", a range ">=17763.1432 <17764"'
        raise document.error(("supports", *path), str(error), hint=hint) from error


def claim_mistakes(
    profile: VendorProfile, flows: Collection[str], own_flows: Collection[str] = ()
) -> Iterator[ManifestError]:
    """Yield an error for each claimed flow that is not declared, and each own flow not claimed.

    An own flow without a level would run and count for nothing.
    """
    claimed = [(feature, flow) for feature in profile.features for flow in feature.flows]
    otherwise = "nettests catalogue --json lists all flows"
    for feature, flow in claimed:
        if flow not in flows:
            yield ManifestError(
                f"{profile.file}:{feature.line}: {feature.name} claims the flow {flow}, which no suite declares",
                hint=nearest(flow, sorted(flows), otherwise=otherwise),
            )
    for flow in sorted({*own_flows} - {flow for _, flow in claimed}):
        yield ManifestError(
            f"{profile.file}: the flow {flow} of the vendor's own suites belongs to no feature",
            hint="name it in a feature, an unsupported one where it is not claimed",
        )


def require_known_claims(
    profile: VendorProfile, flows: Collection[str], own_flows: Collection[str] = ()
) -> None:
    """Raise all mistakes of a profile at once, as a ``ManifestError``."""
    mistakes = list(claim_mistakes(profile, flows, own_flows))
    if mistakes:
        hints = dict.fromkeys(mistake.hint for mistake in mistakes if mistake.hint)
        raise ManifestError(
            "\n".join(mistake.message for mistake in mistakes), hint="; ".join(hints)
        )
