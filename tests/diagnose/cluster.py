"""A cluster that answers for itself: objects by path, tools by their first word, some of them refused."""

import json
import threading
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from nettests.model.channel import ChannelError, ExecAnswer, ProgramMissingError
from nettests.model.powershell import END, whole_output

NAMESPACE = "nettests-run"


def pod(name: str, *containers: str, restarts: int = 0, **fields: Any) -> dict[str, Any]:
    """Return a Pod of the run's namespace."""
    return {
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"containers": [{"name": one, **fields} for one in containers]},
        "status": {
            "phase": "Running",
            "containerStatuses": [{"name": one, "restartCount": restarts} for one in containers],
        },
    }


class Cluster:
    """``objects`` and ``logs`` by path; what is not there is 404, what is in ``denied`` 403."""

    def __init__(self) -> None:
        self.objects: dict[str, Any] = {}
        self.logs: dict[str, str] = {}
        self.denied: set[str] = set()
        self.probed: list[tuple[str, Mapping[str, str]]] = []

    def dry_run(self, item: dict[str, Any]) -> tuple[int, str]:
        """Nothing is ever created here."""
        raise AssertionError(f"diagnostics create nothing, but: {item}")

    def read(self, path: str, query: Mapping[str, str]) -> tuple[int, str]:
        """Answer a request."""
        self.probed.append((path, query))
        if any(word in path for word in self.denied):
            return 403, f"GET {path}: 403 Forbidden"
        if path.endswith("/log"):
            key = path + ("?previous" if "previous" in query else "")
            return (200, self.logs[key]) if key in self.logs else (400, "no such log")
        if path in self.objects:
            return 200, json.dumps(self.objects[path])
        return 404, f"{path} not found"


class Tools:
    """A node's tools by the first word of their argv; a hanging one waits until it is let go."""

    def __init__(self, **said: str) -> None:
        self.said = said
        self.ran: list[Sequence[str]] = []
        self.broken = ""
        self.hangs = ""
        self.hangs_at: Sequence[str] = ()
        """One command that hangs, where a tool's others do not."""
        self.cuts = False
        """Whether the end of each output is lost."""
        self.let_go = threading.Event()

    @property
    def slots(self) -> nullcontext[None]:
        """As many at once as anybody likes."""
        return nullcontext()

    def run(self, argv: Sequence[str], *, timeout: float) -> ExecAnswer:
        """Run a tool."""
        self.ran.append(tuple(argv))
        if self.broken:
            raise ChannelError(self.broken)
        name = argv[0].removesuffix(".exe")
        if name == self.hangs or tuple(argv) == self.hangs_at:
            assert self.let_go.wait(60), timeout
        if name not in self.said:
            raise ProgramMissingError(f"no {name}")
        failed = self.said[name].startswith("failed")
        text = self.said[name]
        if whole_output(argv, text) is None and not self.cuts:
            text = f"{text}\r\n{END}\r\n"
        return ExecAnswer(
            exit_code=int(failed), stdout="" if failed else text, stderr=text if failed else ""
        )
