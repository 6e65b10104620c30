"""A vendor's files on disk: paths from the profile's folder on, packages by their entry point, errors with their line."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nettests.conformance.vendor_files import (
    carried,
    is_vendor_profile,
    read_vendor_files,
)
from nettests.errors import ManifestError
from nettests.plan import load
from tests.conformance.claimed import profile, text_of

SUITE = '''"""What Acme promises."""

from nettests.model.words import TargetKind, VantageKind
from nettests.model.expectation import Source
from nettests.plan import Matrix, flow


@flow(
    "acme-own",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.NEAREST,
    sources=(Source(document="Acme handbook"),),
)
def test_own() -> None:
    """A Service answers."""
'''
MANIFEST = """
apiVersion: nettests.dev/v1alpha1
kind: LimitationManifest
layer: cni
limitations:
  - id: acme-limited
    summary: A Windows Pod does not reach it.
    when: {source: {os: windows}}
    flows: [pod-to-pod-ip]
    expected: {outcome: timed_out}
    mechanism: It is lost.
    category: by-design
    sources: [{document: Acme handbook, names: timed_out}]
"""


def written(folder: Path, **own: list[str]) -> Path:
    """Write a profile that brings these files, and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "vendor.yaml"
    file.write_text(text_of(lambda data: data.update(own)), "utf-8")
    return file


def filled(folder: Path) -> Path:
    """Write a suite and a manifest, and return their folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "test_acme.py").write_text(SUITE, "utf-8")
    (folder / "limitations.yaml").write_text(MANIFEST, "utf-8")
    return folder


def refused(file: Path) -> ManifestError:
    """Return the error of a profile."""
    with pytest.raises(ManifestError) as caught:
        read_vendor_files(file)
    return caught.value


@pytest.fixture
def site_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in which Python finds packages that are installed there."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    before = {*sys.modules}
    yield folder
    for name in {*sys.modules} - before:
        if name.startswith("acme"):
            del sys.modules[name]


def installed(folder: Path, name: str, value: str, package: str = "acme_nettests") -> Path:
    """Install a package as pip lays it out, with an entry point; return its folder."""
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[nettests.suites]\n{name} = {value}\n")
    code = folder / package
    code.mkdir()
    (code / "__init__.py").write_text('"""Acme."""\n')
    return code


def test_a_profile_without_files_brings_none(tmp_path: Path) -> None:
    """The digest is that of its bytes."""
    file = written(tmp_path)
    files = read_vendor_files(file)
    assert (files.suites, files.limitations, files.file) == ((), (), "vendor.yaml")
    assert files.sha256 == carried(profile(), "vendor.yaml").sha256
    assert files.profile.text == file.read_text("utf-8")


def test_paths_count_from_the_folder_of_the_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the command is called; the profile itself is no manifest of its folder."""
    monkeypatch.chdir("/")
    folder = filled(tmp_path / "acme")
    files = read_vendor_files(written(folder, suites=["."], limitations=["."]))
    assert files.suites == (folder,)
    assert files.limitations == (folder / "limitations.yaml",)
    assert [*files.suite_modules()] == [folder / "test_acme.py"]
    assert files.name(folder / "limitations.yaml") == "limitations.yaml"
    assert load(files.suites).declared == {"acme-own"}


def test_what_a_command_line_names_too_is_brought_once(tmp_path: Path) -> None:
    """A flow that is declared twice would be an error."""
    folder = filled(tmp_path / "acme")
    files = read_vendor_files(
        written(folder, suites=["test_acme.py"], limitations=["limitations.yaml"])
    )
    shipped = tmp_path / "shipped"
    assert files.beside_suites([folder]) == (folder,)
    assert files.beside_suites([shipped]) == (shipped, folder / "test_acme.py")
    assert files.beside_limitations([folder / "limitations.yaml"]) == (folder / "limitations.yaml",)


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ({"suites": ["nosuch"]}, "there is no suite nosuch"),
        ({"limitations": ["nosuch.yaml"]}, "there is no limitation manifest nosuch.yaml"),
        ({"limitations": ["empty"]}, "the folder empty holds no limitation manifest"),
        ({"packages": ["nosuch"]}, "the package nosuch is not installed"),
    ],
)
def test_what_is_not_there_is_named_with_its_line(
    tmp_path: Path, own: dict[str, Any], told: str
) -> None:
    """And how it is meant."""
    (tmp_path / "empty").mkdir()
    file = written(tmp_path, **own)
    (name,) = next(iter(own.values()))
    line = file.read_text().splitlines().index(f"- {name}") + 1
    error = refused(file)
    assert error.message.startswith(f"{file}:{line}: {told}")
    assert error.hint


def test_a_profile_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """A folder, a file that is not there, and bytes that are no text."""
    (tmp_path / "b.yaml").write_bytes(b"\xff\xfe")
    for file, told in (
        (tmp_path, "it is a folder"),
        (tmp_path / "no.yaml", "No such file"),
        (tmp_path / "b.yaml", "not UTF-8 text"),
    ):
        assert told in refused(file).message


def test_an_installed_package_brings_its_suites_and_limitations(
    tmp_path: Path, site_packages: Path
) -> None:
    """By the name of its entry point; reports call its files by it."""
    code = filled(installed(site_packages, "acme", "acme_nettests"))
    (code / "vendor.yaml").write_text(text_of(), "utf-8")
    files = read_vendor_files(written(tmp_path / "own", packages=["acme"]))
    assert files.suites == (code / "test_acme.py",)
    assert files.limitations == (code / "limitations.yaml",)
    assert files.name(code / "test_acme.py") == "acme/test_acme.py"
    assert load(files.suites).declared == {"acme-own"}


def test_a_package_of_another_name_is_a_near_miss(tmp_path: Path, site_packages: Path) -> None:
    """Installed ones are told."""
    filled(installed(site_packages, "acme", "acme_nettests"))
    error = refused(written(tmp_path / "own", packages=["acne"]))
    assert error.hint == "did you mean 'acme'?"


@pytest.mark.parametrize(
    ("value", "init", "told"),
    [
        ("acme_nettests", "raise RuntimeError('broken')", "cannot be imported: RuntimeError"),
        ("acme_nettests.nosuch", "", "cannot be imported: ModuleNotFoundError"),
        ("acme_nettests:path", "path = '/etc'", "brings no suite and no limitation manifest"),
        ("acme_nettests", "", "brings no suite and no limitation manifest"),
    ],
)
def test_a_package_that_brings_nothing_is_named(
    tmp_path: Path, site_packages: Path, value: str, init: str, told: str
) -> None:
    """What its code raises is an error of the profile, not a traceback."""
    code = installed(site_packages, "acme", value)
    (code / "__init__.py").write_text(init)
    assert told in refused(written(tmp_path / "own", packages=["acme"])).message


def test_two_packages_of_one_name_are_not_chosen_from(tmp_path: Path, site_packages: Path) -> None:
    """Which of them is meant nobody knows."""
    filled(installed(site_packages, "acme", "acme_nettests"))
    filled(installed(site_packages, "acme", "acme_other", "acme_other"))
    error = refused(written(tmp_path / "own", packages=["acme"]))
    assert (
        "several installed packages call their suites acme: acme_nettests, acme_other"
        in error.message
    )


def test_a_profile_is_told_from_other_documents(tmp_path: Path) -> None:
    """By its kind; what cannot be read is none."""
    assert is_vendor_profile(written(tmp_path))
    assert not is_vendor_profile(filled(tmp_path) / "limitations.yaml")
    assert not is_vendor_profile(tmp_path)
    (tmp_path / "broken.yaml").write_text("a: [")
    assert not is_vendor_profile(tmp_path / "broken.yaml")
