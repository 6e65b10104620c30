"""Members of a check that both runs have, joined across renamed nodes, and which of them changed. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from nettests.compare.nodes import JoinedNodes
from nettests.compare.recorded import Members, OtherMembers, RecordedCheck
from nettests.model.check_id import EXTERNAL, parts_of
from nettests.model.verdict import DEVIATING
from nettests.model.words import Placement, Verdict

_WITHOUT_LIMITATION = frozenset({Verdict.PASS, Verdict.SKIPPED})
"""Verdicts of members beside which the documents name no limitation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberChange:
    """A member that changed; its verdict is ``None`` in the run that does not have it.

    ``label`` names its nodes as the later run does, ``earlier`` as the earlier one did.
    """

    label: str
    earlier: str
    before: Verdict | None
    after: Verdict | None
    limitation_before: str | None = None
    limitation_after: str | None = None

    @property
    def in_both(self) -> bool:
        """Whether both runs have it."""
        return self.before is not None and self.after is not None

    @property
    def newly_deviates(self) -> bool:
        """Whether it deviates, and did not before."""
        return self.after in DEVIATING and self.before not in DEVIATING

    @property
    def tells(self) -> bool:
        """Whether it is a change of the check: a member that came or went with its node is one where it deviates."""
        return self.in_both or self.before in DEVIATING or self.after in DEVIATING


def alone(check: RecordedCheck) -> Members:
    """Return a check without members as its only one, by the label that it would have (``plan.cell``)."""
    source, target = check.source.node or EXTERNAL, check.target.node
    placed = {*Placement} & {*parts_of(check.id)}
    label = f"{source} → {target}" if target and placed else source
    limitation = None if check.verdict in _WITHOUT_LIMITATION else check.limitation_id
    group = OtherMembers(verdict=check.verdict, limitation=limitation, members=(label,))
    return Members(others=(group,))


def member_changes(before: Members, after: Members, nodes: JoinedNodes) -> Iterator[MemberChange]:
    """Yield the members of which verdict or limitation changed, and those that one run alone has."""
    was = {nodes.later(label): (label, *state) for label, state in before.each.items()}
    now = after.each
    for label in dict.fromkeys((*was, *now)):
        earlier, old, old_limitation = was.get(label, (label, None, None))
        new, new_limitation = now.get(label, (None, None))
        if (old, old_limitation) != (new, new_limitation):
            yield MemberChange(
                label=label,
                earlier=earlier,
                before=old,
                after=new,
                limitation_before=old_limitation,
                limitation_after=new_limitation,
            )
