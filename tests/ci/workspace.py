"""A checkout in which the shell of a CI file is run as its system runs it, with the programs that a test puts on its ``PATH``."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.ci.ci_files import ROOT

RUN_ID = "20261124-142224-146d"
SECRET = "apiVersion: v1\nkind: Config"
_PIP = '#!/bin/sh\necho "$@" > "$CALLS/pip"\n'
_NETTESTS = f"""#!{sys.executable}
import json, os, runpy, shutil, sys
from pathlib import Path

words = sys.argv[1:]
if words[0] != "run":
    sys.path.insert(0, os.environ["CHECKOUT"])
    sys.argv[0] = "nettests"
    runpy.run_module("nettests", run_name="__main__")
file = Path(words[words.index("--kubeconfig") + 1])
called = {{"words": words, "kubeconfig": file.read_text(), "mode": file.stat().st_mode & 0o777}}
(Path(os.environ["CALLS"]) / "nettests").write_text(json.dumps(called))
reports = Path(words[words.index("--report-dir") + 1])
if os.environ["CODE"] != "4":
    shutil.copytree(os.environ["RECORDED"], reports / "{RUN_ID}")
    (reports / "latest").symlink_to("{RUN_ID}")
sys.exit(int(os.environ["CODE"]))
"""
"""Ends with the code that a test wants; all commands but ``run`` are the real ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """How the run was called, and the kubeconfig that it found."""

    words: list[str]
    kubeconfig: str
    mode: int


class Workspace:
    """An empty checkout, with the programs that a CI's image has."""

    def __init__(
        self, folder: Path, tools: Mapping[str, str], *, kubeconfig: str, **environment: str
    ) -> None:
        self.folder, self.kubeconfig = folder / "checkout", kubeconfig
        self.folder.mkdir()
        programs = folder / "tools"
        programs.mkdir()
        for name, text in tools.items():
            (programs / name).write_text(text, "utf-8")
            (programs / name).chmod(0o755)
        self.environment = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(folder),
            "NETTESTS_FROM": "nettests==0.1.0",
            **environment,
        }

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a piece of shell in the checkout."""
        return subprocess.run(
            command,
            cwd=self.folder,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )


class RecordedRun(Workspace):
    """In this checkout ``nettests run`` is a recorded run, and ``pip`` installs nothing."""

    def __init__(self, folder: Path, code: int, recorded: Path) -> None:
        self.calls = folder / "calls"
        self.calls.mkdir()
        super().__init__(
            folder,
            {"pip": _PIP, "nettests": _NETTESTS},
            kubeconfig=SECRET,
            CALLS=str(self.calls),
            CODE=str(code),
            RECORDED=str(recorded),
            CHECKOUT=str(ROOT),
        )

    @property
    def called(self) -> Called:
        """How ``nettests run`` was called."""
        return Called(**json.loads((self.calls / "nettests").read_text("utf-8")))

    @property
    def installed(self) -> str:
        """What pip was given."""
        return (self.calls / "pip").read_text("utf-8").strip()
