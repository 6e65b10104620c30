"""The krew manifest: fields that krew knows, and the digest of the very archive beside it."""

import hashlib
import os
import re
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts import krew

SPEC = {"version", "shortDescription", "description", "caveats", "homepage", "platforms"}
PLATFORM = {"uri", "sha256", "selector", "files", "bin"}


@pytest.fixture
def written(tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """Archive and manifest."""
    archive, manifest = krew.write(tmp_path)
    return archive, yaml.safe_load(manifest.read_text("utf-8"))


def mistakes_of(plugin: dict[str, Any]) -> list[str]:
    """What krew would refuse: its own rules, and fields that it does not know."""
    spec = plugin["spec"]
    found = [f"unknown {key}" for key in plugin.keys() - {"apiVersion", "kind", "metadata", "spec"}]
    found += [f"unknown {key}" for key in spec.keys() - SPEC]
    if (plugin["apiVersion"], plugin["kind"]) != (
        "krew.googlecontainertools.github.com/v1alpha2",
        "Plugin",
    ):
        found.append("kind")
    if not re.fullmatch(r"[\w-]+", plugin["metadata"]["name"]):
        found.append("name")
    if not re.fullmatch(r"v\d+\.\d+\.\d+(?:-[\w.]+)?", spec.get("version", "")):
        found.append("version")
    short = spec.get("shortDescription", "")
    if not short or "\n" in short or len(short) > 50:
        found.append("shortDescription")
    if not spec.get("platforms"):
        found.append("platforms")
    for one in spec.get("platforms") or ():
        found += [f"unknown {key}" for key in one.keys() - PLATFORM]
        found += [f"no {key}" for key in ("uri", "sha256", "bin", "selector") if not one.get(key)]
        found += [] if re.fullmatch("[0-9a-f]{64}", one.get("sha256", "")) else ["sha256"]
        labels = (one.get("selector") or {}).get("matchLabels") or {}
        found += [] if labels and labels.keys() <= {"os", "arch"} else ["selector"]
    return found


def test_krew_accepts_the_manifest(written: tuple[Path, dict[str, Any]]) -> None:
    """Its rules for names, versions, platforms and digests find nothing."""
    assert mistakes_of(written[1]) == []


@pytest.mark.parametrize(
    ("place", "key", "value", "found"),
    [
        ("spec", "version", "0.1.0", "version"),
        ("spec", "shortDescription", "a\nb", "shortDescription"),
        ("spec", "platforms", [], "platforms"),
        ("spec", "licence", "x", "unknown licence"),
        ("metadata", "name", "net/tests", "name"),
    ],
)
def test_a_mistake_is_found(written: tuple[Path, dict[str, Any]], place: str, key: str, value: Any, found: str) -> None:  # fmt: skip
    """The check can fail."""
    written[1][place][key] = value
    assert found in mistakes_of(written[1])


def test_the_digest_is_that_of_the_archive(
    written: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    """Which is the same whenever it is made, and holds the program that the manifest names."""
    archive, plugin = written
    for one in plugin["spec"]["platforms"]:
        assert one["sha256"] == hashlib.sha256(archive.read_bytes()).hexdigest()
        assert one["uri"].endswith(archive.name)
    assert krew.write(tmp_path / "again")[0].read_bytes() == archive.read_bytes()
    with tarfile.open(archive) as packed:
        assert packed.getnames() == [plugin["spec"]["platforms"][0]["bin"], "LICENSE"]
        assert packed.getmember("kubectl-nettests").mode == 0o755


def program(
    written: tuple[Path, dict[str, Any]], folder: Path, *tools: str
) -> subprocess.CompletedProcess[str]:
    """Run the program as kubectl does, where only these tools are installed."""
    with tarfile.open(written[0]) as packed:
        folder.mkdir()
        for member in filter(tarfile.TarInfo.isfile, packed):
            content = packed.extractfile(member)
            assert content is not None
            (folder / member.name).write_bytes(content.read())
            (folder / member.name).chmod(member.mode)
    bin_ = folder / "bin"
    bin_.mkdir()
    for tool in tools:
        (bin_ / tool).write_text(f'#!/bin/sh\necho {tool} "$@"\n')
        (bin_ / tool).chmod(0o755)
    return subprocess.run(["/bin/sh", str(folder / "kubectl-nettests"), "plan", "--flow=a b"], env={"PATH": str(bin_), "HOME": str(folder)}, capture_output=True, text=True, timeout=30, check=False)  # fmt: skip


@pytest.mark.parametrize(
    ("tools", "called"),
    [
        (("uv", "pipx"), "uv tool run --from nettests=={} kubectl-nettests plan --flow=a b"),
        (("pipx",), "pipx run --spec nettests=={} kubectl-nettests plan --flow=a b"),
    ],
)
def test_the_program_starts_this_version(written: tuple[Path, dict[str, Any]], tmp_path: Path, tools: tuple[str, ...], called: str) -> None:  # fmt: skip
    """By uv, or else by pipx, with all words passed on."""
    done = program(written, tmp_path / "x", *tools)
    assert done.stdout == f"{called.format(krew.version())}\n", done.stderr


def test_without_either_it_says_what_it_needs(written: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:  # fmt: skip
    """With the exit code of wrong usage."""
    done = program(written, tmp_path / "x")
    assert (done.returncode, done.stdout) == (4, "")
    assert "uv or pipx" in done.stderr
    assert os.sep not in done.stderr
