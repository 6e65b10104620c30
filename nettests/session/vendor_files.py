"""Load a vendor profile with its suites and limitation manifests, by path or from installed packages.

A package registers by an entry point of the group ``nettests.suites``, whose value is a package: the test modules and
limitation manifests below its folder belong to it. Naming a profile runs the vendor's code, as ``--suite`` does.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

from nettests.conformance.vendor_profile import KIND, Own, VendorProfile, read_vendor_profile
from nettests.errors import ManifestError
from nettests.model.nearest import nearest
from nettests.model.yaml_text import read_yaml
from nettests.outside_files import read_text

GROUP = "nettests.suites"
"""The group of entry points by which packages bring suites."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorFiles:
    """A profile, the digest of its text, and the files that it brings; ``names`` are those that reports show."""

    profile: VendorProfile
    file: str
    """The name of the profile's file."""
    sha256: str
    suites: tuple[Path, ...] = ()
    limitations: tuple[Path, ...] = ()
    names: Mapping[Path, str]

    def beside_suites(self, given: Sequence[Path]) -> tuple[Path, ...]:
        """Return suites that were named on a command line, and those of the profile that were not."""
        return _with_profile_paths(given, self.suites)

    def beside_limitations(self, given: Sequence[Path]) -> tuple[Path, ...]:
        """Return limitation manifests that were named on a command line, and those of the profile that were not."""
        return _with_profile_paths(given, self.limitations)

    def suite_modules(self) -> Iterator[Path]:
        """Yield the files of the suites, each once."""
        modules: dict[Path, None] = {}
        for path in self.suites:
            modules.update(
                dict.fromkeys(_files_below(path, ("test_*.py",)) if path.is_dir() else [path])
            )
        yield from modules

    def name(self, path: Path) -> str:
        """Return what a report calls a file: by its place below the profile's folder, or by its package."""
        for base, name in self.names.items():
            if path.is_relative_to(base):
                inside = path.relative_to(base).as_posix()
                return f"{name}/{inside}" if name else inside
        return path.name


def read_vendor_files(file: Path) -> VendorFiles:
    """Read a profile, and find what it names; ``ManifestError`` says in which line what is not there."""
    profile = read_vendor_profile(_text(file), str(file))
    base = file.resolve().parent
    suites = [_existing(profile, suite, base, "suite") for suite in profile.suites]
    limitations = [
        manifest
        for limitation in profile.limitations
        for manifest in _manifests(
            profile, limitation, _existing(profile, limitation, base, "limitation manifest")
        )
    ]
    packages = {package.name: _package(profile, package) for package in profile.packages}
    for package in packages.values():
        suites += _files_below(package, ("test_*.py",))
        limitations += _profile_manifests(package)
    return VendorFiles(
        profile=profile,
        file=file.name,
        sha256=_sha256(profile),
        suites=tuple(dict.fromkeys(suites)),
        limitations=tuple(dict.fromkeys(limitations)),
        names={**{folder: name for name, folder in packages.items()}, base: ""},
    )


def _with_profile_paths(given: Sequence[Path], profile_paths: Sequence[Path]) -> tuple[Path, ...]:
    named = [path.resolve() for path in given]
    return (
        *given,
        *(
            path
            for path in profile_paths
            if not any(path.is_relative_to(folder) for folder in named)
        ),
    )


def carried(profile: VendorProfile, file: str) -> VendorFiles:
    """Return a profile that a report carries, which brings no files; ``file`` is how the report calls it."""
    return VendorFiles(profile=profile, file=file, sha256=_sha256(profile), names={})


def _sha256(profile: VendorProfile) -> str:
    return hashlib.sha256(profile.text.encode()).hexdigest()


def is_vendor_profile(file: Path) -> bool:
    """Whether a file is a document of that kind; one that cannot be read is none."""
    try:
        data, _ = read_yaml(read_text(file), str(file))
    except (OSError, UnicodeDecodeError, ManifestError):
        return False
    return isinstance(data, dict) and data.get("kind") == KIND


def _text(file: Path) -> str:
    try:
        return read_text(file)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise ManifestError(
            f"the vendor profile {file} cannot be read: {reason}",
            hint="pass a file with --vendor-profile",
        ) from error


def _existing(profile: VendorProfile, reference: Own, base: Path, what: str) -> Path:
    path = (base / reference.name).resolve()
    if not path.exists():
        raise ManifestError(
            f"{profile.file}:{reference.line}: there is no {what} {reference.name}: {path} does not exist",
            hint="paths count from the folder of the profile",
        )
    return path


def _manifests(profile: VendorProfile, reference: Own, path: Path) -> list[Path]:
    """Return the manifests that a path names; the profile itself may lie in the same folder."""
    manifests = _profile_manifests(path) if path.is_dir() else [path]
    if not manifests:
        raise ManifestError(
            f"{profile.file}:{reference.line}: the folder {reference.name} holds no limitation manifest",
            hint="manifests end in .yaml or .yml",
        )
    return manifests


def _profile_manifests(folder: Path) -> list[Path]:
    return [
        file for file in _files_below(folder, ("*.yaml", "*.yml")) if not is_vendor_profile(file)
    ]


def _files_below(folder: Path, patterns: tuple[str, ...]) -> list[Path]:
    return sorted({path for pattern in patterns for path in folder.rglob(pattern)})


def _package(profile: VendorProfile, reference: Own) -> Path:
    """Return the folder of an installed package that names itself so."""
    installed = entry_points(group=GROUP)
    named = {
        (entry_point.value, entry_point.name): entry_point
        for entry_point in installed
        if entry_point.name == reference.name
    }
    if not named:
        names = sorted({entry_point.name for entry_point in installed})
        none = f"no installed package has an entry point in the group {GROUP}"
        raise ManifestError(
            f"{profile.file}:{reference.line}: the package {reference.name} is not installed, or names no suites",
            hint=nearest(reference.name, names, what="installed") if names else none,
        )
    if len(named) > 1:
        values = ", ".join(sorted(value for value, _ in named))
        raise ManifestError(
            f"{profile.file}:{reference.line}: several installed packages call their suites {reference.name}: {values}",
            hint="uninstall all but one of them",
        )
    folder = _folder(_load(profile, reference, next(iter(named.values()))))
    if folder is None or not (_files_below(folder, ("test_*.py",)) or _profile_manifests(folder)):
        raise ManifestError(
            f"{profile.file}:{reference.line}: the package {reference.name} brings no suite and no limitation manifest",
            hint=f"its entry point in {GROUP} names a package with test_*.py or *.yaml files",
        )
    return folder


def _load(profile: VendorProfile, reference: Own, entry: EntryPoint) -> object:
    try:
        return entry.load()
    except Exception as error:
        raise ManifestError(
            f"{profile.file}:{reference.line}: the package {reference.name} cannot be imported: {type(error).__name__}: {error}",
            hint=f"run: python -c 'import {entry.module}'",
        ) from error


def _folder(loaded: object) -> Path | None:
    """Return the folder of a package; a module alone, or anything else, is none."""
    if not isinstance(loaded, ModuleType):
        return None
    places = [*getattr(loaded, "__path__", ())]
    return Path(places[0]).resolve() if places else None
