"""The options that ``nettests run`` and plain pytest share, each declared once, in ``options.txt``.

``cli.options`` turns them into click's, ``plugin.pytest_options`` into pytest's, to which
``nettests run`` passes its own. Every pytest run in the environment imports this module, quickly.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OWN, CLUSTER, IMAGES, CHECKS = "Options", "Cluster", "Images", "Checks"
"""The headings of options in a command's help; a command takes those that change what it does."""
PULL = "pull"
"""Part of ``IMAGES``, for commands that create Pods or estimate that."""
IDS = "ids"
"""Part of ``CHECKS``, for commands that plan like a run."""
NUMBER = "N"
"""The metavar of options that take a number, from 1."""
WEBHOOK_VARIABLE = "NETTESTS_WEBHOOK"


@dataclass(frozen=True, slots=True)
class RunOption:
    """One option; without a ``metavar`` it is a flag. ``bare`` is its value if none is given."""

    flag: str
    group: str
    metavar: str
    help: str
    many: bool = False
    bare: str | None = None
    choices: tuple[str, ...] = ()
    in_pytest: str = ""
    """Its name in pytest, if ours has another meaning there."""
    cli_only: bool = False
    """Whether pytest does not have it: suites are paths there, for example."""

    @property
    def name(self) -> str:
        """The name of its value in click; pytest derives its own from ``pytest_flag``."""
        return self.flag.lstrip("-").replace("-", "_")

    @property
    def pytest_flag(self) -> str:
        """Its flag in pytest."""
        return self.in_pytest or self.flag


def _declared() -> Iterator[RunOption]:
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
    """Yield options as arguments of pytest; ``values`` are by the options' names."""
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
