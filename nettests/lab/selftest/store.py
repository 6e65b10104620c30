"""The runs of a selftest so far, on disk: one folder, one file for each healthy run and each fault.

Each file is written as soon as its run ends, so that an interrupted selftest can be resumed. Runs are stored,
never judgements: declarations may change.
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nettests.lab.errors import LabError
from nettests.lab.selftest.declared import NamedFault
from nettests.lab.selftest.runs import Run, from_json, to_json

_HEALTHY = "healthy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A run under a fault; ``left`` are checks that were still red after it."""

    run: Run
    left: tuple[str, ...] = ()


class Store:
    """The folder of one selftest."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def make(self) -> None:
        """Make the folder; ``LabError`` if it cannot be."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LabError(f"{self.path} cannot be made: {error.strerror}") from error

    def reports(self, profile: str, name: str) -> Path:
        """Return the folder for the harness' own documents of a run."""
        return self.path / profile / name

    def healthy(self, profile: str) -> Run | None:
        """Return the healthy run of a profile, if there was one."""
        data = self._read(profile, _HEALTHY)
        return None if data is None else from_json(data["run"])

    def keep_healthy(self, profile: str, run: Run) -> None:
        """Write the healthy run of a profile."""
        self._write(profile, _HEALTHY, {"run": to_json(run)})

    def fault(self, profile: str, fault: NamedFault) -> Kept | None:
        """Return the run under a fault, if there was one that was put in force as it is declared now."""
        data = self._read(profile, fault.name)
        if data is None or data["inject"] != _injected(fault):
            return None
        return Kept(run=from_json(data["run"]), left=tuple(data["left"]))

    def keep(self, profile: str, fault: NamedFault, kept: Kept) -> None:
        """Write the run under a fault."""
        data = {"inject": _injected(fault), "run": to_json(kept.run), "left": list(kept.left)}
        self._write(profile, fault.name, data)

    def write(self, name: str, text: str) -> Path:
        """Write a document of the whole."""
        path = self.path / name
        path.write_text(text, encoding="utf-8")
        return path

    def _file(self, profile: str, name: str) -> Path:
        return self.path / profile / f"{name}.json"

    def _read(self, profile: str, name: str) -> Any:
        try:
            return json.loads(self._file(profile, name).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise LabError(
                f"{self._file(profile, name)} is not what a selftest wrote: {error}",
                hint="Remove it: that fault is then tried again.",
            ) from error

    def _write(self, profile: str, name: str, data: Any) -> None:
        file = self._file(profile, name)
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(".draft")
        draft.write_text(json.dumps(data, indent=1), encoding="utf-8")
        os.replace(draft, file)  # noqa: PTH105  # whoever reads meets the old file or the new one


def _injected(fault: NamedFault) -> Any:
    """Return how a fault is put in force, as JSON has it."""
    means = {
        "injections": [
            {**asdict(injection), "options": dict(injection.options)}
            for injection in fault.injections
        ],
        "mechanisms": list(fault.mechanisms),
    }
    return means | ({"enable": list(fault.enable)} if fault.enable else {})
