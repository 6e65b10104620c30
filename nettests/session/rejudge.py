"""Verdicts recomputed from a run's journal, without a cluster: newer manifests, the same answers.

The other way into ``judge``: raw answers, facts and checks come from the journal, expectations from
manifests of today. It asks nothing and writes nothing.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from nettests import expect
from nettests.errors import NettestsError
from nettests.expect import Manifest
from nettests.judge import judge_run
from nettests.model.check import Check
from nettests.model.codec import from_data
from nettests.model.facts import ClusterFacts
from nettests.model.observation import Observation, Raw
from nettests.model.verdict import Judgement
from nettests.model.words import Verdict
from nettests.session.journal import Finished, as_record, understood
from nettests.session.journal import finished as read_done
from nettests.session.observed import observed

TWICE = "the journal holds its observation twice"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What a journal holds of one run: facts, checks in their order, observations, its own verdicts.

    Checks that turned out not to apply while they were asked are left out.
    """

    facts: ClusterFacts
    checks: tuple[Check, ...]
    observations: Mapping[str, Observation]
    verdicts: Mapping[str, Verdict]


def read_recorded(journal: Path) -> Recorded:
    """Read a journal; ``NettestsError`` when it is not one, or no run began."""
    try:
        records = [
            as_record(line, number)
            for number, line in enumerate(journal.read_bytes().splitlines(keepends=True), start=1)
            if _whole(line)
        ]
    except (OSError, ValueError) as error:
        raise NettestsError(f"{journal} cannot be read as a journal: {error}") from error
    with understood(journal):
        return _recorded(journal, records)


def _recorded(journal: Path, records: Sequence[Mapping[str, Any]]) -> Recorded:
    facts = [record["facts"] for record in records if record.get("record") == "facts"]
    if not facts:
        raise NettestsError(
            f"{journal} holds no facts of a cluster", hint="the run could not start; see its events"
        )
    finished = _finished(records)
    planned = [from_data(r["check"], Check) for r in records if r.get("record") == "planned"]
    checks = [c for c in planned if c.id not in finished or finished[c.id].skip is None]
    told = _verdicts(records)
    return Recorded(
        facts=from_data(facts[-1], ClusterFacts),
        checks=tuple(checks),
        observations={c.id: observed(c, finished[c.id]) for c in checks if c.id in finished},
        verdicts={c.id: told[c.id] for c in checks if c.id in told},
    )


def rejudged(
    recorded: Recorded, manifests: Sequence[Manifest], *, today: date | None = None
) -> list[Judgement]:
    """Judge every recorded check by ``manifests``; a check that was not observed is ``unknown``.

    ``today`` is needed as soon as an entry has a review date.
    """
    expectations = expect.resolve(recorded.checks, recorded.facts, manifests, today=today)
    return judge_run(recorded.checks, expectations, recorded.observations)


def _whole(line: bytes) -> bool:
    """Whether a line was written to its end: the last one of a killed writer was not."""
    return line.endswith(b"\n")


def _finished(records: Sequence[Mapping[str, Any]]) -> dict[str, Finished]:
    raws: defaultdict[str, list[Raw]] = defaultdict(list)
    finished: dict[str, Finished] = {}
    for record in records:
        match record.get("record"):
            case "raw":
                raw = from_data(record["raw"], Raw)
                raws[raw.check].append(raw)
            case "done":
                told = read_done(record, raws[record["check"]])
                again = record["check"] in finished
                finished[record["check"]] = replace(told, distrust=TWICE) if again else told
    return finished


def _verdicts(records: Sequence[Mapping[str, Any]]) -> dict[str, Verdict]:
    judged = [from_data(r["judgement"], Judgement) for r in records if r.get("record") == "judged"]
    return {told.check: told.verdict for told in judged}
