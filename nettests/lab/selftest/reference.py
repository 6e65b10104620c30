"""The matrix as documents, and the sentences that these and the terminal share. Pure.

A reference page, ``docs/reference/selftest.md`` or ``assumptions.md``, is made from the matrix's document only. The HTML file needs no
network and no script: faults down, flows across.
"""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from functools import lru_cache

from jinja2 import Environment, PackageLoader, StrictUndefined
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
    """Return how many were run, detected, recovered from, blind, named, and how many in time."""
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
        f"{sum(bool(row.unrelated) and not row.blind for row in ran)} with unrelated red",
        f"{blind} declared blind",
        f"{in_time[0]} of {in_time[1]} within {BUDGET:g} times the healthy run",
    ]
    return " · ".join(parts)


def times(matrix: Matrix, row: Judged) -> str:
    """Return how many times as long as the healthy run a fault's run took; nothing if there is no ratio."""
    ratio = matrix.ratio(row)
    return "" if ratio is None else f"{ratio:.2f} ×"


def word(row: Judged) -> str:
    """Return a fault's verdict, and whether it was judged again after the run."""
    return f"{row.word} (judged again)" if row.rejudged else row.word


def judged_again(matrix: Matrix) -> str:
    """Return how many runs were judged again, and how many are not recorded; nothing if none was."""
    again = sum(bool(row.rejudged) for row in matrix.ran)
    untold = sum(row.rejudged is None for row in matrix.ran)
    parts = [
        f"{again} of {len(matrix.ran)} runs were judged again from their journals" if again else "",
        f"of {untold} runs it is not recorded whether they were judged again" if untold else "",
    ]
    text = "; ".join(filter(None, parts))
    return f"{text[:1].upper()}{text[1:]}"


def left_open(matrix: Matrix) -> list[str]:
    """Return the flows that documents leave open, each with the limitations that say so."""
    return [f"{flow} ({', '.join(names)})" for flow, names in matrix.open.items()]


def reasons(row: Judged, most: int) -> list[str]:
    """Return the problems of a fault's row, each list cut after ``most``."""
    lines = [f"nothing turned of {what}" for what in row.missed if not row.blind]
    if row.unrelated and not row.blind:
        lines.append(f"red and unrelated: {some(row.unrelated, most)}")
    if row.detected and not row.named and not row.blind:
        lines.append(f"the leading incident does not name it: {row.cause or 'there is none'}")
    if Problem.UNTOLD in row.problems:
        lines.append(f"no event of the run says “{row.recovered}”")
    if row.left:
        lines.append(f"still red without the fault: {some(row.left, most)}")
    if row.detail:
        lines.append(row.detail)
    return lines


def some(names: tuple[str, ...], most: int) -> str:
    """Return the first names, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def state(row: Judged) -> str:
    """Return a word for colours: ``good``, ``bad``, ``blind`` or ``idle``."""
    if not row.ran:
        return "idle"
    if row.problems:
        return "bad"
    return "blind" if row.blind else "good"


_MOST = 8
_INTRODUCTION = f"""# Selftest: faults and what notices them

`nettests lab selftest` breaks labs by named faults, one after the other, makes a whole run of each, and compares what turned red with what was declared ([decision 0035](../decisions/0035-selftest.md)).
This page is made of [selftest.json](selftest.json), which such a selftest wrote; it says what was run and what was not.

A fault is *detected* when a check turned red of everything that must, nothing else did, and the leading incident names the cause.
*Judged again* means that a harness of a later day judged the journal of that run (`--rejudge`): what was sent and answered is of the run, the verdicts and the incidents are not.
*Blind* faults are declared with the reason why nothing can notice them yet.
A run *recovers* from a fault when no check turns red and an event in its journal says what it got over.
The *ratio* is how many times as long as the healthy run of the same profile a run under the fault took; **bold** is more than {BUDGET:g}, or a run that left no results.
"""


_OF_ASSUMPTIONS = """# Assumptions about tools, broken one by one

`nettests lab selftest --assumptions` breaks what nettests assumes of the tools of Windows nodes and of how they are started, one assumption after the other, in a cluster whose network is in order.
It makes a whole run of each; this page is made of [assumptions.json](assumptions.json), which it wrote.

An assumption is *detected* when checks became unknown, none became anything worse (that would be a false result), and the leading incident names the instrument that is not understood.
It is *harmless* when nothing turns red at all, for the reason below the tables.
"""


def render(matrix: Matrix, *, assumptions: bool = False) -> str:
    """Return the page, of faults of clusters or of assumptions about tools."""
    introduction = _OF_ASSUMPTIONS if assumptions else _INTRODUCTION
    return "\n".join([introduction, *_lines(matrix)]) + "\n"


def _lines(matrix: Matrix) -> Iterator[str]:
    yield f"**{headline(matrix)}**: {counted(matrix)}."
    if again := judged_again(matrix):
        yield f"\n{again}."
    yield "\n| profile | without a fault | seconds |\n| --- | --- | --- |"
    for profile in matrix.profiles:
        state = "healthy" if profile.healthy else f"not healthy {profile.problem}".rstrip()
        yield f"| `{profile.name}` | {state} | {profile.seconds:.0f} |"
    yield from _faults(matrix)
    problems = [(row, line) for row in matrix.wrong for line in reasons(row, _MOST)]
    yield from _section(
        "What is wrong",
        [f"- `{row.fault}` on `{row.profile}`: {_cell(line)}" for row, line in problems],
    )
    for title, attribute, form in _REASONS:
        why = {row.fault: getattr(row, attribute) for row in matrix.judged}
        lines = [f"- `{fault}`: {form.format(why)}" for fault, why in why.items() if why]
        yield from _section(title, lines)
    idle = ", ".join(f"`{flow}`" for flow in matrix.idle)
    yield from _section("Flows that no fault turned", [idle or "None."])
    opened = [
        f"- `{flow}`: {', '.join(f'`{name}`' for name in names)}"
        for flow, names in matrix.open.items()
    ]
    yield from _section(
        "Flows whose outcome documents leave open", [_OPEN, "", *opened] if opened else []
    )


def _section(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield f"\n## {title}\n"
        yield from lines


def _faults(matrix: Matrix) -> Iterator[str]:
    for profile in dict.fromkeys(row.profile for row in matrix.judged):
        yield f"\n## {profile}\n"
        yield "| fault | what is broken | verdict | seconds | ratio | red checks by flow | leading incident |"
        yield "| --- | --- | --- | --- | --- | --- | --- |"
        for row in matrix.judged:
            if row.profile == profile:
                yield _row(matrix, row)


_REASONS = (
    ("What a run recovers from", "recovered", "an event has to say “{}”"),
    ("What does no harm", "harmless", "{}"),
    ("What nothing notices yet", "blind", "{}"),
)
"""Sections about faults that need not turn a check: title, attribute of a row, and form of its line."""
_OPEN = (
    "Every check of them may end either way on every profile here, so that no fault can turn them; "
    "the limitation says why."
)


def _row(matrix: Matrix, row: Judged) -> str:
    turned = [f"{flow} {red}/{of}" for flow, (red, of) in matrix.flows_of(row).items()]
    ratio = times(matrix, row)
    cells = (
        f"`{row.fault}`",
        matrix.summaries.get(row.fault, ""),
        word(row),
        f"{row.seconds:.0f}" if row.ran else "",
        f"**{ratio}**" if matrix.too_long(row) else ratio,
        ", ".join(turned),
        row.cause,
    )
    return f"| {' | '.join(_cell(text) for text in cells)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


_MOST_ON_PAGE = 12


def page(matrix: Matrix) -> str:
    """Return the page."""
    environment = _environment()
    style = _source("selftest.css")
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
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        headline=headline,
        counted=counted,
        reasons=reasons,
        state=state,
        word=word,
        judged_again=judged_again,
        left_open=left_open,
        times=times,
    )
    return environment


@lru_cache(maxsize=1)
def _source(name: str) -> str:
    environment = _environment()
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]
