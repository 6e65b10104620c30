"""Run nettests and write down through which files one check goes: ``docs/reference/one-check.md``.

    python scripts/follow.py CHECK PAGE.md run --lab=win2019-l2bridge --flow=FLOW -- -k EXPRESSION

Writes the columns "now" and "modules now" of the page's table, and prints the figures that its text names.
Looks at each call in the harness's own process. ``ran`` are the files of which any function ran, once all are
imported; ``held`` those of which a function was given the check: its id or the flow's name, or a value that
carries one of them in a field, or in a short list. Collections of all checks are not opened, so a function
that looks the check up in a table by itself is missed. The lab is another process and is not seen.
"""

import sys
import threading
from collections import defaultdict
from inspect import CO_NEWLOCALS
from pathlib import Path
from types import FrameType
from typing import Any

from nettests.model.check_id import flow_of

ROOT = Path(__file__).resolve().parent.parent
PLACES = tuple(f"{ROOT / name}/" for name in ("nettests", "suites"))
LAB = f"{ROOT / 'nettests' / 'lab'}/"
NAMES = ("id", "check_id", "name")
CARRIERS = ("check", "flow", "question", "action", "planned", "observed", "run")
SHORT = 8
"""A longer collection is of many checks."""
COLUMNS = 5
"""Of the page's table: package, before, now, what it does with the check, modules now."""
DEEP = 2
"""So many fields away a value still speaks of the check."""


def _field(value: object, name: str) -> Any:
    """Return a field of a value, if it has one: properties of a value that is still being built may fail."""
    try:
        return getattr(value, name, None)
    except Exception:  # noqa: BLE001 (whatever it is, it must not reach the function that is followed)
        return None


class Trace:
    """Notes each function of the project that is called; a profile function of all threads."""

    def __init__(self, check: str) -> None:
        self.check, self.flow = check, flow_of(check)
        self.ran: defaultdict[str, set[str]] = defaultdict(set)
        self.held: defaultdict[str, set[str]] = defaultdict(set)

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Note a call."""
        code = frame.f_code
        file = code.co_filename
        if event != "call" or not file.startswith(PLACES) or file.startswith(LAB):
            return
        if not code.co_flags & CO_NEWLOCALS:  # the body of a module or of a class
            return
        file = str(Path(file).relative_to(ROOT))
        self.ran[file].add(code.co_qualname)
        if code.co_qualname not in self.held[file]:
            arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            given = frame.f_locals
            if any(self.carries(given[name]) for name in arguments if name in given):
                self.held[file].add(code.co_qualname)

    def carries(self, value: Any, depth: int = 0) -> bool:
        """Whether a value is or carries the check."""
        if isinstance(value, str):
            return self.check in value or value == self.flow
        if depth > DEEP:
            return False
        if isinstance(value, tuple | list):
            return len(value) <= SHORT and any(self.carries(part, depth + 1) for part in value)
        if not type(value).__module__.startswith("nettests"):
            return False
        named = (_field(value, name) for name in NAMES)
        if any(isinstance(name, str) and self.carries(name) for name in named):
            return True
        carried = (_field(value, name) for name in CARRIERS)
        return any(self.carries(part, depth + 1) for part in carried if part is not None)

    def write(self, page: Path) -> None:
        """Write the table's columns of today, and print what the page's text says of them."""
        modules: defaultdict[str, list[str]] = defaultdict(list)
        held = {file: names for file, names in self.held.items() if file.startswith("nettests/")}
        held = {file: names for file, names in held.items() if names and file.endswith(".py")}
        for file in sorted(held):
            package, _, module = file.removeprefix("nettests/").partition("/")
            modules[package].append(
                f"`{(module or package).removesuffix('.py' if module else '')}`"
            )
        lines = page.read_text("utf-8").split("\n")
        for number, line in enumerate(lines):
            cells = line.split(" | ")
            package = cells[0].removeprefix("| ").strip("`")
            if len(cells) == COLUMNS and package in modules:
                ours = modules.pop(package)
                lines[number] = " | ".join(
                    (*cells[:2], str(len(ours)), cells[3], ", ".join(ours) + " |")
                )
            elif package == "harness, Python":
                lines[number] = " | ".join((*cells[:2], str(len(held)), "| |"))
        page.write_text("\n".join(lines), encoding="utf-8")
        long = sum(len((ROOT / file).read_text("utf-8").splitlines()) for file in held)
        given = sum(map(len, held.values()))
        sys.stdout.write(
            f"{len(held)} modules of {long} lines, {given} functions given it; {len(self.ran)} files ran\n"
            + "".join(
                f"no row on the page: {package} {ours}\n" for package, ours in modules.items()
            )
        )


def main() -> None:
    """Follow the check of the command line."""
    from nettests.cli import main as nettests  # noqa: PLC0415 (imports are no part of the way)

    check, to, *arguments = sys.argv[1:]
    trace = Trace(check)
    sys.argv = ["nettests", *arguments]
    threading.setprofile(trace)
    sys.setprofile(trace)
    try:
        nettests()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        trace.write(Path(to))


if __name__ == "__main__":
    main()
