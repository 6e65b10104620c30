"""Load a vendor profile with its suites and limitation manifests, by path or from packages.

A package registers by an entry point of the group ``nettests.suites``, whose value is a package
with test modules and limitation manifests. Loading a profile runs the vendor's code, like
``--suite``.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

from nettests.conformance.vendor_profile import KIND, Own, VendorProfile, read_vendor_profile
from nettests.errors import ManifestError
from nettests.model.nearest import nearest
from nettests.model.yaml_text import read_yaml
from nettests.outside_files import read_text, text_of

GROUP = "nettests.suites"
"""The entry point group of packages with suites."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorFiles:
    """A profile, the digest of its text, and its files; ``names`` are those in reports."""

    profile: VendorProfile
    file: str
    """The name of the profile's file."""
    sha256: str
    suites: tuple[Path, ...] = ()
    limitations: tuple[Path, ...] = ()
    names: Mapping[Path, str]

    def beside_suites(self, given: Sequence[Path]) -> tuple[Path, ...]:
        """Return the suites on a command line, and the profile's other ones."""
        return (*given, *_others(self.suites, given))

    def beside_limitations(self, given: Sequence[Path]) -> tuple[Path, ...]:
        """Return the limitation manifests on a command line, and the profile's other ones."""
        return (*given, *_others(self.limitations, given))

    def suite_modules(self) -> tuple[Path, ...]:
        """Return the suites' files, each once."""
        every = (_suites(path) if path.is_dir() else [path] for path in self.suites)
        return tuple(dict.fromkeys(module for modules in every for module in modules))

    def name(self, path: Path) -> str:
        """Return a file's name in a report: its path below the profile's folder or in a package."""
        for base, name in self.names.items():
            if path.is_relative_to(base):
                inside = path.relative_to(base).as_posix()
                return f"{name}/{inside}" if name else inside
        return path.name


def read_vendor_files(file: Path) -> VendorFiles:
    """Read a profile and find its files; ``ManifestError`` has the line of a missing one."""
    text = text_of(file, "vendor profile", "pass a file with --vendor-profile")
    profile = read_vendor_profile(text, str(file))
    base = file.resolve().parent
    suites = [_existing(profile, suite, base, "suite") for suite in profile.suites]
    limitations: list[Path] = []
    for limitation in profile.limitations:
        path = _existing(profile, limitation, base, "limitation manifest")
        # The profile itself may be in the same folder.
        manifests = _manifests(path) if path.is_dir() else [path]
        if not manifests:
            message = f"the folder {limitation.name} holds no limitation manifest"
            raise _error(profile, limitation, message, "manifests end in .yaml or .yml")
        limitations += manifests
    packages = {package.name: _package(profile, package) for package in profile.packages}
    for package in packages.values():
        suites += _suites(package)
        limitations += _manifests(package)
    return VendorFiles(
        profile=profile,
        file=file.name,
        sha256=_sha256(profile),
        suites=tuple(dict.fromkeys(suites)),
        limitations=tuple(dict.fromkeys(limitations)),
        names={**{folder: name for name, folder in packages.items()}, base: ""},
    )


def _others(paths: Sequence[Path], given: Sequence[Path]) -> list[Path]:
    named = [path.resolve() for path in given]
    return [path for path in paths if not any(path.is_relative_to(each) for each in named)]


def carried(profile: VendorProfile, file: str) -> VendorFiles:
    """Return the profile in a report, without files; ``file`` is its name in the report."""
    return VendorFiles(profile=profile, file=file, sha256=_sha256(profile), names={})


def _sha256(profile: VendorProfile) -> str:
    return hashlib.sha256(profile.text.encode()).hexdigest()


def is_vendor_profile(file: Path) -> bool:
    """Whether a file is a vendor profile; false if it cannot be read."""
    try:
        data, _ = read_yaml(read_text(file), str(file))
    except (OSError, UnicodeDecodeError, ManifestError):
        return False
    return isinstance(data, dict) and data.get("kind") == KIND


def _error(profile: VendorProfile, reference: Own, message: str, hint: str) -> ManifestError:
    return ManifestError(f"{profile.file}:{reference.line}: {message}", hint=hint)


def _existing(profile: VendorProfile, reference: Own, base: Path, what: str) -> Path:
    path = (base / reference.name).resolve()
    if not path.exists():
        message = f"there is no {what} {reference.name}: {path} does not exist"
        raise _error(profile, reference, message, "paths are relative to the folder of the profile")
    return path


def _suites(folder: Path) -> list[Path]:
    return sorted(folder.rglob("test_*.py"))


def _manifests(folder: Path) -> list[Path]:
    files = sorted({*folder.rglob("*.yaml"), *folder.rglob("*.yml")})
    return [file for file in files if not is_vendor_profile(file)]


def _package(profile: VendorProfile, reference: Own) -> Path:
    """Return the folder of the installed package that registered this name."""
    installed, name = entry_points(group=GROUP), reference.name
    named = {(point.value, point.name): point for point in installed if point.name == name}
    if not named:
        names = sorted({entry_point.name for entry_point in installed})
        none = f"no installed package has an entry point in the group {GROUP}"
        raise _error(
            profile,
            reference,
            f"the package {name} is not installed, or names no suites",
            nearest(name, names, what="installed") if names else none,
        )
    if len(named) > 1:
        values = ", ".join(sorted(value for value, _ in named))
        message = f"several installed packages call their suites {name}: {values}"
        raise _error(profile, reference, message, "uninstall all but one of them")
    (entry,) = named.values()
    try:
        loaded = entry.load()
    except Exception as error:
        message = f"the package {name} cannot be imported: {type(error).__name__}: {error}"
        hint = f"run: python -c 'import {entry.module}'"
        raise _error(profile, reference, message, hint) from error
    places = [*getattr(loaded, "__path__", ())] if isinstance(loaded, ModuleType) else []
    folder = Path(places[0]).resolve() if places else None
    if folder is None or not (_suites(folder) or _manifests(folder)):
        raise _error(
            profile,
            reference,
            f"the package {name} brings no suite and no limitation manifest",
            f"its entry point in {GROUP} names a package with test_*.py or *.yaml files",
        )
    return folder
