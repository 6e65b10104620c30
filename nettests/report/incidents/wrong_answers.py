"""Names that resolve to an address which is none of their targets': a wildcard record, or one that is stale.

Beside ``evidence``: who got the same wrong address, or a name that should not exist, shares its cause, on whatever
node, with whatever tool and for whatever name. What the DNS says nothing of is not known here.
"""

from collections.abc import Iterator, Sequence

from nettests.judge.message import last_detail
from nettests.model.target_kinds import Naming
from nettests.model.words import Outcome
from nettests.report.incidents.search import Evidence
from nettests.report.incidents.traits import Kind, Trait
from nettests.report.results import CheckResult


def wrong_answers(red: Sequence[CheckResult]) -> Iterator[Evidence]:
    """Yield, for each red check, the wrong addresses that it was led to."""
    addresses = sorted(
        {one for result in red if result.observation for one in result.observation.misled}
    )
    for result in red:
        for address in addresses:
            if _led_to(result, address):
                trait = Trait(Kind.WRONG_ANSWER, address)
                yield Evidence(check=result.id, traits=frozenset({trait}), red=True)


def _led_to(result: CheckResult, address: str) -> bool:
    check, seen = result.check, result.observation
    if check is None or seen is None:
        return False
    if address in seen.misled:
        return True
    if check.target.descriptor.naming is Naming.ABSENT:
        return seen.outcome is Outcome.RESOLVED  # nobody told to what; the name should not be there
    # sample: Get "http://198.51.100.10:82/whoami": dial tcp 198.51.100.10:82: connect: connection refused
    return check.target.descriptor.by_name and f"{address}:" in last_detail(seen)
