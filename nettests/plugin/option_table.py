"""The options that ``nettests run`` and plain pytest share, each declared once, in ``options.txt``.

``cli.options`` makes click's options of them, ``plugin.pytest_options`` pytest's, and ``nettests run`` passes its own on
as pytest's. Every pytest run in the environment imports this module: it imports nothing that takes time.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OWN, CLUSTER, IMAGES, CHECKS = "Options", "Cluster", "Images", "Checks"
"""The headings of options in a command's help; a command takes those that change what it does."""
PULL = "pull"
"""One more of ``IMAGES``, for commands that create Pods or say what creating them takes."""
IDS = "ids"
"""One more of ``CHECKS``, for commands that plan as a run does."""
WEBHOOK_VARIABLE = "NETTESTS_WEBHOOK"


@dataclass(frozen=True, slots=True)
class RunOption:
    """One option; with an empty ``metavar`` it is a switch. ``bare`` is its value where it is written without one."""

    flag: str
    group: str
    metavar: str
    help: str
    many: bool = False
    bare: str | None = None
    choices: tuple[str, ...] = ()
    in_pytest: str = ""
    """Its name for pytest, where ours has another meaning."""
    cli_only: bool = False
    """Whether pytest does without it: it is given suites as paths, for example."""

    @property
    def name(self) -> str:
        """What click and pytest call its value."""
        return self.flag.lstrip("-").replace("-", "_")

    @property
    def pytest_flag(self) -> str:
        """How it is written for pytest."""
        return self.in_pytest or self.flag


def _declared() -> Iterator[RunOption]:
    """Yield the options of ``options.txt``."""
    for line in Path(__file__).with_name("options.txt").read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        flag, group, metavar, marks, says = line.split("; ", 4)
        stated = dict(mark.partition("=")[::2] for mark in marks.split())
        yield RunOption(
            flag,
            group,
            metavar,
            says,
            many="many" in stated,
            bare=stated.get("bare"),
            choices=tuple(filter(None, stated.get("choices", "").split(","))),
            in_pytest=stated.get("pytest", ""),
            cli_only="cli" in stated,
        )


OPTIONS = tuple(_declared())
NAMED = {option.flag: option for option in OPTIONS}


def words_of(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield options as pytest's command line takes them; ``values`` are by the options' names."""
    for option in OPTIONS:
        if option.cli_only:
            continue
        value, flag = values.get(option.name), option.pytest_flag
        if not option.metavar:
            yield from [flag] if value else []
        elif option.many:
            yield from (f"{flag}={each}" for each in value or ())
        elif value is not None:
            yield f"{flag}={value}"
