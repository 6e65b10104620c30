"""The lock files: complete, by hash, for every Python of the project, and naming no machine."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
NAMES = ("installer", "run", "development")


def project() -> dict[str, Any]:
    """Return ``pyproject.toml``."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def locked(name: str) -> dict[str, tuple[Requirement, int]]:
    """Return what a file pins, by name, each with the number of its hashes."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text("utf-8").replace("\\\n", " ")
    found: dict[str, tuple[Requirement, int]] = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        stated, *hashes = line.split("--hash=sha256:")
        wanted = Requirement(stated.strip())
        assert all(re.fullmatch("[0-9a-f]{64} *", one) for one in hashes)
        found[canonicalize_name(wanted.name)] = (wanted, len(hashes))
    return found


def asked(name: str) -> list[Requirement]:
    """Return what a file has to satisfy."""
    stated = project()
    groups = stated["dependency-groups"]
    own = stated["project"]["dependencies"]
    texts = {
        "installer": groups["installer"],
        "run": own,
        "development": [*own, *groups["test"], *groups["lint"]],
    }[name]
    return [Requirement(text) for text in texts]


@pytest.mark.parametrize("name", NAMES)
def test_every_library_is_pinned_by_hash(name: str) -> None:
    """One version each, and at least one hash: pip and uv then refuse anything else."""
    pins = locked(name)
    assert pins
    for wanted, hashes in pins.values():
        assert str(wanted.specifier).startswith("=="), wanted
        assert hashes, wanted


@pytest.mark.parametrize("name", NAMES)
def test_what_the_project_asks_for_is_satisfied(name: str) -> None:
    """A bound that changes without ``make lock`` is found."""
    pins = locked(name)
    for wanted in asked(name):
        pin, _ = pins[canonicalize_name(wanted.name)]
        version = str(pin.specifier).removeprefix("==")
        assert wanted.specifier.contains(version), f"{wanted} against {version}: make lock"


@pytest.mark.parametrize("name", NAMES)
def test_no_index_and_no_machine_is_named(name: str) -> None:
    """Whoever installs uses an index of their own."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text("utf-8")
    assert not re.search(r"://|index|find-links|/(?:home|opt|tmp|work)/", text)


def test_every_dependency_has_two_bounds() -> None:
    """The lowest version that works, and the next one that nobody has tested."""
    for wanted in asked("run"):
        assert sorted(one.operator for one in wanted.specifier) == ["<", ">="], wanted


def test_scapy_comes_with_its_extra_alone() -> None:
    """A run needs no library under the GPL (decision 0027); development does."""
    assert "scapy" not in locked("run")
    assert "scapy" in locked("development")
    extra = project()["project"]["optional-dependencies"]["packets"]
    assert [Requirement(text).name for text in extra] == ["scapy"]
