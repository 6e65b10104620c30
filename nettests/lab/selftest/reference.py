"""The matrix as a reference page, ``docs/reference/selftest.md`` or ``assumptions.md``: made from its document only. Pure."""

from collections.abc import Iterator

from nettests.lab.selftest.judging import Judged
from nettests.lab.selftest.matrix import BUDGET, Matrix
from nettests.lab.selftest.sentences import counted, headline, judged_again, reasons, times, word

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
        yield ""
        yield f"{again}."
    yield ""
    yield "| profile | without a fault | seconds |"
    yield "| --- | --- | --- |"
    for profile in matrix.profiles:
        state = "healthy" if profile.healthy else f"not healthy {profile.problem}".rstrip()
        yield f"| `{profile.name}` | {state} | {profile.seconds:.0f} |"
    yield from _faults(matrix)
    yield from _wrong(matrix)
    yield from _recovered(matrix)
    yield from _harmless(matrix)
    yield from _blind(matrix)
    yield from _flows(matrix)


def _faults(matrix: Matrix) -> Iterator[str]:
    for profile in dict.fromkeys(row.profile for row in matrix.judged):
        yield ""
        yield f"## {profile}"
        yield ""
        yield "| fault | what is broken | verdict | seconds | ratio | red checks by flow | leading incident |"
        yield "| --- | --- | --- | --- | --- | --- | --- |"
        for row in matrix.judged:
            if row.profile == profile:
                yield _row(matrix, row)


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


def _wrong(matrix: Matrix) -> Iterator[str]:
    if not matrix.wrong:
        return
    yield ""
    yield "## What is wrong"
    yield ""
    for row in matrix.wrong:
        for line in reasons(row, _MOST):
            yield f"- `{row.fault}` on `{row.profile}`: {_cell(line)}"


def _recovered(matrix: Matrix) -> Iterator[str]:
    recovered = {row.fault: row.recovered for row in matrix.judged if row.recovered}
    if not recovered:
        return
    yield ""
    yield "## What a run recovers from"
    yield ""
    for fault, words in recovered.items():
        yield f"- `{fault}`: an event has to say “{words}”"


def _harmless(matrix: Matrix) -> Iterator[str]:
    harmless = {row.fault: row.harmless for row in matrix.judged if row.harmless}
    if not harmless:
        return
    yield ""
    yield "## What does no harm"
    yield ""
    for fault, why in harmless.items():
        yield f"- `{fault}`: {why}"


def _blind(matrix: Matrix) -> Iterator[str]:
    blind = {row.fault: row.blind for row in matrix.judged if row.blind}
    if not blind:
        return
    yield ""
    yield "## What nothing notices yet"
    yield ""
    for fault, why in blind.items():
        yield f"- `{fault}`: {why}"


def _flows(matrix: Matrix) -> Iterator[str]:
    yield ""
    yield "## Flows that no fault turned"
    yield ""
    yield (", ".join(f"`{flow}`" for flow in matrix.idle) or "None.")
    if matrix.open:
        yield ""
        yield "## Flows whose outcome documents leave open"
        yield ""
        yield "Every check of them may end either way on every profile here, so that no fault can turn them; the limitation says why."
        yield ""
        for flow, names in matrix.open.items():
            yield f"- `{flow}`: {', '.join(f'`{name}`' for name in names)}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
