"""The matrix as documents, and the sentences that these and the terminal share. Pure.

The reference pages ``docs/reference/selftest.md`` and ``assumptions.md`` are rendered from the matrix alone. The HTML page needs neither
network nor script; its rows are faults, its columns flows.
"""

import base64
import hashlib
from functools import lru_cache

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from nettests.lab.selftest.judging import Judged, Problem
from nettests.lab.selftest.matrix import BUDGET, Exit, Matrix

_HEADLINES = {
    Exit.DETECTED: "Every fault was detected or recovered from, nothing else turned red, and each cause was named",
    Exit.MISSED: "The harness has something to answer for",
    Exit.UNFINISHED: "Nothing is wrong so far, and not all faults were run",
    Exit.NOTHING: "No fault was run",
}


def headline(matrix: Matrix) -> str:
    """Return the result in one sentence, without a full stop."""
    return _HEADLINES[matrix.exit]


def counted(matrix: Matrix) -> str:
    """Return how many faults were run, detected, recovered from, blind, named, and how many runs were in time."""
    ran, named, in_time = matrix.ran, matrix.named, matrix.in_time
    blind = sum(bool(row.blind) for row in ran)
    recovered = [row for row in ran if row.recovered]
    harmless = [row for row in ran if row.harmless]
    detected = sum(row.detected and not row.need_not_turn for row in ran)
    parts = [
        f"{len(ran)} of {len(matrix.judged)} faults run",
        f"{detected} of {len(ran) - blind - len(recovered) - len(harmless)} detected",
        *(
            [f"{sum(not row.problems for row in harmless)} of {len(harmless)} harmless"]
            if harmless
            else []
        ),
        f"{sum(not row.problems for row in recovered)} of {len(recovered)} recovered from",
        f"{named[0]} of {named[1]} leading incidents name the cause",
        *_of_combinations(matrix),
        f"{sum(bool(row.unrelated) and not row.blind for row in ran)} with unrelated red",
        f"{blind} declared blind",
        f"{in_time[0]} of {in_time[1]} within {BUDGET:g} times the healthy run",
    ]
    return " · ".join(parts)


def _of_combinations(matrix: Matrix) -> list[str]:
    """Return in how many combinations every fault is detected and named, and about further incidents."""
    rows = matrix.combined
    if not rows:
        return []
    faults, named = sum(row.parts for row in rows), sum(row.parts_named for row in rows)
    return [
        f"of {len(rows)} combinations {sum(row.detected for row in rows)} with every fault detected",
        f"{named} of their {faults} faults are named by as many leading incidents",
        f"{sum(row.echoes for row in rows)} further incidents beside them",
        f"{sum(bool(row.contradicted) for row in rows)} with an incident that a green check contradicts",
    ]


def times(matrix: Matrix, row: Judged) -> str:
    """Return the duration of a fault's run as a multiple of the healthy run; empty if there is no ratio."""
    ratio = matrix.ratio(row)
    return "" if ratio is None else f"{ratio:.2f} ×"


def word(row: Judged) -> str:
    """Return a fault's verdict, and whether it was judged again after the run."""
    return f"{row.word} (judged again)" if row.rejudged else row.word


def judged_again(matrix: Matrix) -> str:
    """Return how many runs were judged again, and for how many that was not recorded; empty if none."""
    again = sum(bool(row.rejudged) for row in matrix.ran)
    untold = sum(row.rejudged is None for row in matrix.ran)
    parts = [
        f"{again} of {len(matrix.ran)} runs were judged again from their journals" if again else "",
        f"of {untold} runs it is not recorded whether they were judged again" if untold else "",
    ]
    text = "; ".join(filter(None, parts))
    return f"{text[:1].upper()}{text[1:]}"


def left_open(matrix: Matrix) -> list[str]:
    """Return the flows whose outcome the documents leave open, each with its limitations."""
    return [f"{flow} ({', '.join(names)})" for flow, names in matrix.open.items()]


def reasons(row: Judged, most: int) -> list[str]:
    """Return the problems of a fault's row, with at most ``most`` names each."""
    lines = [f"nothing turned of {what}" for what in row.missed if not row.blind]
    if row.unrelated and not row.blind:
        lines.append(f"red and unrelated: {some(row.unrelated, most)}")
    if row.detected and not row.named and not row.blind:
        what = f"{row.parts_named} of {row.parts} faults are" if row.parts > 1 else "it is not"
        lines.append(f"{what} named by the leading incident: {row.cause or 'there is none'}")
    if Problem.UNTOLD in row.problems:
        lines.append(f"no event of the run says “{row.recovered}”")
    if Problem.ECHOED in row.problems:
        lines.append(f"{row.echoes} incidents beside those of {row.parts} faults")
    lines += [f"contradicted: {text}" for text in row.contradicted[:most]]
    if row.left:
        lines.append(f"still red without the fault: {some(row.left, most)}")
    if row.detail:
        lines.append(row.detail)
    return lines


def some(names: tuple[str, ...], most: int) -> str:
    """Return the first ``most`` names, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def state(row: Judged) -> str:
    """Return the style of a row: ``good``, ``bad``, ``blind`` or ``idle``."""
    if not row.ran:
        return "idle"
    if row.problems:
        return "bad"
    return "blind" if row.blind else "good"


_MOST = 8


def render(matrix: Matrix, *, of: str = "selftest") -> str:
    """Return a reference page: ``selftest`` for faults of clusters, or ``assumptions``."""
    why = {
        "What a run recovers from": [
            (row.fault, f"an event has to say “{row.recovered}”")
            for row in matrix.judged
            if row.recovered
        ],
        "What does no harm": [(row.fault, row.harmless) for row in matrix.judged if row.harmless],
        "What nothing notices yet": [(row.fault, row.blind) for row in matrix.judged if row.blind],
    }
    return (
        _environment()
        .get_template("selftest.md.j2")
        .render(
            matrix=matrix,
            page=of,
            turned_nothing=[(title, dict(rows)) for title, rows in why.items()],
            most=_MOST,
            budget=BUDGET,
        )
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


_MOST_ON_PAGE = 12


def page(matrix: Matrix) -> str:
    """Return the HTML page."""
    environment = _environment()
    assert environment.loader is not None
    style = environment.loader.get_source(environment, "selftest.css")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    turned = {flow for row in matrix.ran for flow, _, _ in row.turned}
    return environment.get_template("selftest.html.j2").render(
        matrix=matrix,
        flows=[flow for flow in matrix.flows if flow in turned],
        style=Markup(style),  # noqa: S704 - shipped with the package
        policy=f"default-src 'none'; style-src 'sha256-{digest}'",
        most=_MOST_ON_PAGE,
        budget=BUDGET,
    )


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("nettests.lab.selftest"),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    sentences = (headline, counted, reasons, state, word, judged_again, left_open, times)
    environment.globals.update({each.__name__: each for each in sentences})
    environment.filters["cell"] = _cell
    return environment
