"""The matrix of faults, profiles and flows: what each fault turned, what none turned, and the exit code. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import IntEnum
from typing import Any

from nettests.lab.selftest.judging import Judged, Problem

API_VERSION = "nettests.dev/v1alpha1"

BUDGET = 2.0
"""The longest run under a fault, as a multiple of the healthy run."""


class Exit(IntEnum):
    """Exit codes of the command, modelled on those of a run."""

    DETECTED = 0
    MISSED = 1
    UNFINISHED = 6
    NOTHING = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One profile's healthy run: its red checks (ideally none) and its duration."""

    name: str
    seconds: float
    red: tuple[str, ...] = ()
    problem: str = ""

    @property
    def healthy(self) -> bool:
        """Whether nothing was red and no problem occurred."""
        return not self.red and not self.problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The rows of all faults. ``flows`` are those that ran on any profile; ``summaries`` describe faults.

    ``open`` are flows whose outcome the documents leave open on every profile, with the limitations that say
    so: no fault can turn them.
    """

    profiles: tuple[Profile, ...]
    flows: tuple[str, ...]
    judged: tuple[Judged, ...]
    summaries: Mapping[str, str]
    open: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def ran(self) -> tuple[Judged, ...]:
        """Faults that were run."""
        return tuple(row for row in self.judged if row.ran)

    @property
    def wrong(self) -> tuple[Judged, ...]:
        """Faults with problems of the harness, or of their declaration."""
        return tuple(row for row in self.ran if row.problems)

    @property
    def missing(self) -> tuple[Judged, ...]:
        """Faults that were not run."""
        return tuple(row for row in self.judged if not row.ran)

    @property
    def idle(self) -> tuple[str, ...]:
        """Flows with an expected outcome that no fault has turned."""
        turned = {flow for row in self.ran for flow, _, _ in row.turned}
        return tuple(flow for flow in self.flows if flow not in turned and flow not in self.open)

    @property
    def named(self) -> tuple[int, int]:
        """For how many detected faults leading incidents name the cause, and the number of detected faults."""
        detected = [row for row in self.ran if row.detected and not row.need_not_turn]
        return sum(row.named for row in detected), len(detected)

    @property
    def combined(self) -> tuple[Judged, ...]:
        """Runs under several faults together."""
        return tuple(row for row in self.ran if row.parts > 1)

    @property
    def in_time(self) -> tuple[int, int]:
        """How many runs were within ``BUDGET``, and how many could be compared.

        A run without results is not in time, however short it was.
        """
        compared = [row for row in self.ran if self.ratio(row) is not None]
        return len(compared) - sum(map(self.too_long, compared)), len(compared)

    @property
    def exit(self) -> Exit:
        """The exit code of the command."""
        if not self.ran:
            return Exit.NOTHING
        if self.wrong or not all(profile.healthy for profile in self.profiles):
            return Exit.MISSED
        return Exit.UNFINISHED if self.missing else Exit.DETECTED

    def ratio(self, row: Judged) -> float | None:
        """Return the duration of a fault's run as a multiple of its profile's healthy run.

        ``None`` if they cannot be compared: the fault was not run, or only selected flows were.
        """
        whole = row.beside or healthy_seconds(self.profiles, row.profile)
        comparable = row.ran and not row.selected and whole
        return round(row.seconds / whole, 2) if comparable else None

    def too_long(self, row: Judged) -> bool:
        """Whether a fault's run took longer than ``BUDGET`` allows, or left no results at all."""
        ratio = self.ratio(row)
        return ratio is not None and (ratio > BUDGET or Problem.BROKEN in row.problems)

    def flows_of(self, row: Judged) -> Mapping[str, tuple[int, int]]:
        """Return the flows that a fault turned, with the numbers of red checks and of all checks."""
        return {flow: (red, of) for flow, red, of in row.turned}


def document(matrix: Matrix) -> dict[str, Any]:
    """Return the matrix as plain data."""
    named, detected = matrix.named
    in_time, compared = matrix.in_time
    return {
        "apiVersion": API_VERSION,
        "kind": "Selftest",
        "exit": int(matrix.exit),
        "counts": counts(matrix.judged),
        "named": {"causes": named, "of": detected},
        "in_time": {"faults": in_time, "of": compared, "budget": BUDGET},
        "profiles": [asdict(profile) for profile in matrix.profiles],
        "faults": [
            {
                **asdict(row),
                "verdict": row.word,
                "summary": matrix.summaries.get(row.fault, ""),
                "ratio": matrix.ratio(row),
            }
            for row in matrix.judged
        ],
        "flows": list(matrix.flows),
        "idle": list(matrix.idle),
        "open": {flow: list(names) for flow, names in matrix.open.items()},
    }


def healthy_seconds(profiles: Iterable[Profile], name: str) -> float:
    """Return the duration of a profile's healthy run, 0 if there was none."""
    return next((profile.seconds for profile in profiles if profile.name == name), 0)


def counts(judged: Iterable[Judged]) -> dict[str, int]:
    """Return how often each verdict was given, the most frequent first."""
    return dict(Counter(row.word for row in judged).most_common())
