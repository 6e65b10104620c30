"""Count in how many rounds of a watch each check, and each member, was judged or not.

``rounds`` uses it for the exit code: a check that was observed in few rounds is not known for the whole time. Lost
rounds, and checks that do not apply, do not count.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from nettests.model.check import Check
from nettests.model.check_id import member_id
from nettests.model.verdict import Judgement, MembersJudged
from nettests.model.words import Verdict


@dataclass(slots=True)
class _Count:
    judged: int = 0
    unknown: int = 0
    why: str = ""
    """Why it could not be judged the last time."""


@dataclass(slots=True)
class RoundTally:
    """Counts rounds by check and by member, by their ids."""

    _counts: defaultdict[str, _Count] = field(default_factory=lambda: defaultdict(_Count))

    def take(self, check: Check, judgement: Judgement) -> None:
        """Count a round with this judgement of a check."""
        for name, verdict, why in _each(check, judgement):
            count = self._counts[name]
            count.judged += verdict not in {Verdict.UNKNOWN, Verdict.SKIPPED}
            if verdict is Verdict.UNKNOWN:
                count.unknown += 1
                count.why = why

    def mostly_unknown(self, check: Check) -> Mapping[str, str]:
        """Return the check or its members, by id, that were unknown in more rounds than judged, and why, with figures."""
        counts = {
            member.id: self._counts[member.id] for member in check.each if member.id in self._counts
        }
        return {
            name: f"{count.why} (unknown in {count.unknown} of {count.unknown + count.judged} rounds)"
            for name, count in counts.items()
            if count.unknown > count.judged
        }


def _each(check: Check, judgement: Judgement) -> Iterator[tuple[str, Verdict, str]]:
    """Yield the verdict of the check, or of each of its members: those that passed are not named."""
    if not check.members:
        yield check.id, judgement.verdict, _why(judgement)
        return
    named = {label: group for group in judgement.members for label in group.labels}
    for member in check.members:
        name, group = member_id(check.id, member.label), named.get(member.label)
        if group is None:
            yield name, Verdict.PASS, ""
        else:
            yield name, group.verdict, _why(group)


def _why(judgement: Judgement | MembersJudged) -> str:
    """Return why something was not judged, without what was expected and observed."""
    # sample: … - fleet - expected connected, observed probe_failed: not trusted: node win-2 was not Ready …
    why = judgement.message.rpartition(f"observed {judgement.observed}: ")[2]
    return why.removeprefix("not trusted: ")
