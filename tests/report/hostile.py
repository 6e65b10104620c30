"""Records whose every text from a cluster is an attack, and a run that consists of one such check."""

from collections.abc import Iterator
from dataclasses import replace

from nettests.model.facts import ClusterFacts, known
from nettests.model.journal_records import Answer, Discovered, Event, Judged, Record, Skipped
from nettests.model.observation import Raw
from nettests.model.verdict import Judgement
from tests.report.scenario import QUIET, records

NASTY = (
    "<script>alert(1)</script></script></style><!-- ]]> & \" ' `| [x](javascript:1) {{ 7*7 }}"
    " \x00\x1b[31m\u202etxt.exe\u2028\ufeff \ud800 {% raw %}"
)
LABEL = "<b onmouseover=alert(1)>&\"'"


def hostile_records() -> Iterator[Record]:
    """Yield a whole run in which the texts that a cluster decides are hostile."""
    for record in records(QUIET):
        match record:
            case Answer():
                yield Answer(raw=_spoilt(record.raw))
            case Judged():
                yield Judged(judgement=_disfigured(record.judgement))
            case Discovered():
                yield Discovered(facts=_facts(record.facts))
            case Skipped():
                yield Skipped(skip=replace(record.skip, reason=NASTY))
            case _:
                yield record
    yield Event(at=NASTY, text=NASTY)


def _spoilt(raw: Raw) -> Raw:
    context = {**raw.context, "resolved": NASTY}
    return replace(
        raw, stdout=NASTY, stderr=NASTY, command=(NASTY, NASTY), error=NASTY, context=context
    )


def _disfigured(judgement: Judgement) -> Judgement:
    return replace(judgement, message=NASTY, expected=NASTY, observed=NASTY, next_step=NASTY)


def _facts(facts: ClusterFacts) -> ClusterFacts:
    nodes = tuple(replace(node, os_image=NASTY, kernel=LABEL) for node in facts.nodes)
    cni = replace(facts.cni, plugin=known(NASTY, NASTY))
    return replace(facts, nodes=nodes, context=NASTY, cni=cni)
