"""Environments that hold the wheel, and of this environment's libraries only those that an installation brings."""

import os
import subprocess
import sys
import sysconfig
import tomllib
import venv
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """An environment in which the wheel was installed."""

    python: Path
    outside: Path

    def run(self, *arguments: str, timeout: int = 120) -> subprocess.CompletedProcess[str]:
        """Run the installed interpreter outside the checkout."""
        kept = {
            name: os.environ[name]
            for name in ("PATH", "HOME", "NETTESTS_NFT")
            if name in os.environ
        }
        return subprocess.run(
            [str(self.python), *arguments],
            cwd=self.outside,
            env=kept,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def nettests(self, *arguments: str, timeout: int = 120) -> subprocess.CompletedProcess[str]:
        """Run the installed command."""
        return self.run(str(self.python.parent / "nettests"), *arguments, timeout=timeout)


def install(wheel: Path, home: Path, outside: Path, *extras: str) -> Installed:
    """Make an environment with the wheel and what it brings with these extras; nothing is fetched.

    An ``nft`` that set-up without root unpacked into this environment is in that one too.
    """
    venv.create(home, with_pip=False, symlinks=True)
    python, unpacked = home / "bin" / "python", Path(sys.prefix) / "bin" / "nft"
    if unpacked.exists():
        (home / "bin" / "nft").symlink_to(unpacked)
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    subprocess.run([*command, "--no-deps", "--no-index", str(wheel)], check=True, timeout=120)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = home / "lib" / version / "site-packages"
    borrowed = Path(sysconfig.get_path("purelib"))
    for one in brought_by(*extras):
        for name in {file.parts[0] for file in one.files or ()} - {"..", "__pycache__"}:
            if not (packages / name).exists():
                (packages / name).symlink_to(borrowed / name)
    return Installed(python=python, outside=outside)


def brought_by(*extras: str) -> list[Distribution]:
    """Return the distributions that ``pip install nettests[…]`` installs beside nettests, as they stand here."""
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    optional = stated["optional-dependencies"]
    texts = [*stated["dependencies"], *(text for extra in extras for text in optional[extra])]
    waiting = [Requirement(text) for text in texts]
    found: dict[str, Distribution] = {}
    met: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        if (name, frozenset(wanted.extras)) in met:
            continue
        met.add((name, frozenset(wanted.extras)))
        found[name] = distribution(name)
        waiting += _needs(found[name], wanted.extras)
    return list(found.values())


def _needs(one: Distribution, extras: Iterable[str]) -> list[Requirement]:
    stated = [Requirement(text) for text in one.requires or ()]
    return [
        wanted
        for wanted in stated
        if wanted.marker is None
        or any(wanted.marker.evaluate({"extra": extra}) for extra in ("", *extras))
    ]
