"""Strips for the history page: one cell per run, with its verdict as colour and shape. Pure geometry and text.

All cells of a verdict are one path, and adjacent cells one rectangle of it, so that a strip of a year of good nights
is a hundred bytes. All pictures of a history have the same columns, so that charts and strips line up.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nettests.model.verdict import SUMMARY_ORDER
from nettests.model.words import Verdict
from nettests.report.heat_map import GLYPHS

WIDE = 800
"""Pixels that all columns take together, where they are not too narrow then."""
WIDEST, NARROWEST = 24.0, 3.0
"""Pixels of a column."""
HEIGHT = 20
"""Pixels of a strip."""
_GLYPH = 14
"""Pixels that a shape takes; in narrower cells there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """One column for each run."""

    number: int

    @property
    def pitch(self) -> float:
        """Pixels from one column to the next."""
        return round(min(WIDEST, max(NARROWEST, WIDE / self.number)), 2)

    @property
    def width(self) -> float:
        """Pixels of all columns."""
        return round(self.pitch * self.number, 2)

    @property
    def lines(self) -> str:
        """The lines between columns, for strips."""
        return "".join(f"M{self.left(at)} 0v{HEIGHT}" for at in range(1, self.number))

    @property
    def gap(self) -> float:
        """Pixels between two cells."""
        return 2 if self.pitch >= _GLYPH else 0.5

    def left(self, at: int) -> float:
        """Return where a column begins."""
        return round(at * self.pitch, 2)

    def middle(self, at: int) -> float:
        """Return the middle of a column."""
        return round((at + 0.5) * self.pitch, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """All cells of one verdict; ``name`` is the verdict's, ``good`` for all that are accepted."""

    name: str
    squares: str
    shapes: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A cell that says what it is when pointed at, and leads to the run's report."""

    x: float
    text: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """One strip; ``first_bad`` is where the column begins in which it went bad."""

    layers: tuple[Layer, ...]
    marks: tuple[Mark, ...] = ()
    first_bad: float | None = None
    label: str = ""
    """What it shows, for screen readers."""


GOOD = "good"
_NAMES: Mapping[Verdict, str] = {
    **{verdict: verdict.value for verdict in Verdict},
    **dict.fromkeys((Verdict.PASS, Verdict.LIMITED, Verdict.RECORDED, Verdict.KNOWN_BUG), GOOD),
}


def strip(
    verdicts: Sequence[Verdict | None],
    columns: Columns,
    *,
    marks: Iterable[Mark] = (),
    first_bad: int | None = None,
    label: str = "",
) -> Strip:
    """Return the strip of verdicts, one a run."""
    places: dict[str, list[int]] = {}
    for at, verdict in enumerate(verdicts):
        if verdict is not None:
            places.setdefault(_NAMES[verdict], []).append(at)
    return Strip(
        layers=tuple(_layer(name, cells, columns) for name, cells in places.items()),
        marks=tuple(marks),
        first_bad=None if first_bad is None else columns.left(first_bad),
        label=label,
    )


def worst(strips: Iterable[Sequence[Verdict | None]]) -> list[Verdict | None]:
    """Return the worst verdict of each run; what was skipped is worth less than anything else."""
    ranks = {verdict: rank for rank, verdict in enumerate(SUMMARY_ORDER)}
    return [
        min((verdict for verdict in column if verdict), key=ranks.__getitem__, default=None)
        for column in zip(*strips, strict=True)
    ]


def _layer(name: str, places: Sequence[int], columns: Columns) -> Layer:
    wide = round(columns.pitch, 2)
    glyph = "" if name == GOOD or wide < _GLYPH else GLYPHS.get(Verdict(name), "")
    inset = round((wide - _GLYPH) / 2, 2)
    return Layer(
        name=name,
        squares="".join(
            f"M{columns.left(start)} 0h{round(wide * length, 2)}v{HEIGHT}h-{round(wide * length, 2)}z"
            for start, length in _streaks(places)
        ),
        shapes="".join(
            f"M{round(columns.left(at) + inset, 2)} {(HEIGHT - _GLYPH) // 2}{glyph}"
            for at in (places if glyph else ())
        ),
    )


def _streaks(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first of places that follow each other, and how many they are."""
    start, length = 0, 0
    for at in places:
        if length and at == start + length:
            length += 1
        else:
            if length:
                yield start, length
            start, length = at, 1
    if length:
        yield start, length
