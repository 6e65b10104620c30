"""Names that resolve to an address of no target, existing names that are denied, and SERVFAIL.

Beside ``evidence``: checks with the same wrong address share a cause, whatever the node, tool or
name; so do checks that got NXDOMAIN or SERVFAIL. Silent DNS is not handled here.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from nettests.model.check import Check
from nettests.model.target_kinds import Naming
from nettests.model.words import OS, Outcome, Verdict
from nettests.report.incidents.search import Evidence
from nettests.report.incidents.traits import (
    Kind,
    Trait,
    is_named_outside,
    looks_names_up,
    queries_cluster_dns,
)
from nettests.report.results import CheckResult

DENIAL = Trait(Kind.DENIAL, "names that exist")
ERRORS = Trait(Kind.DNS_ERRORS, "SERVFAIL")


def wrong_answers(red: Sequence[CheckResult]) -> Iterator[Evidence]:
    """Yield, for each red check, the wrong addresses to which names resolved."""
    addresses = sorted(
        {
            address
            for result in red
            if result.observation
            for address in result.observation.unexpected_addresses
        }
    )
    backends = {name for result in red for name in result.planned.target.backends}
    for result in red:
        for address in addresses:
            if _resolved_to(result, address) or _reached_a_stranger(result, backends):
                trait = Trait(Kind.WRONG_ANSWER, address)
                yield Evidence(check=result.id, traits=frozenset({trait}), red=True)


def _resolved_to(result: CheckResult, address: str) -> bool:
    check, seen = result.planned, result.observation
    if seen is None:
        return False
    if address in seen.unexpected_addresses:
        return True
    if check.target.descriptor.naming is Naming.ABSENT:
        return (
            seen.outcome is Outcome.RESOLVED
        )  # the name should not exist; its address is not recorded
    # sample: Get "http://198.51.100.10:82/whoami": dial tcp 198.51.100.10:82: connect: connection refused
    return check.target.descriptor.by_name and f"{address}:" in seen.last_detail


def _reached_a_stranger(result: CheckResult, backends: AbstractSet[str]) -> bool:
    """Whether a name led to a server that is no backend of any target: its address is not recorded."""
    check, seen = result.planned, result.observation
    if seen is None or not queries_cluster_dns(check):
        return False
    return check.target.descriptor.by_name and not set(seen.backends) <= backends


def denials(red: Sequence[CheckResult]) -> Iterator[Evidence]:
    """Yield the red checks on nodes where cluster DNS denied an existing, fully qualified name.

    A name that needs the search list may be denied for lack of it, which is another cause.
    """
    denied = [
        result for result in red if queries_cluster_dns(result.planned) and _was_denied(result)
    ]
    nodes = {result.planned.source.node for result in denied if _in_full(result.planned)}
    for result in (each for each in red if each.planned.source.node in nodes):
        failed = looks_names_up(result.planned) and result.verdict is Verdict.FAIL
        if failed or result in denied:
            yield Evidence(check=result.id, traits=frozenset({DENIAL}), red=True)


def errors(red: Sequence[CheckResult]) -> Iterator[Evidence]:
    """Yield the red checks to which cluster DNS answered SERVFAIL for a name of the cluster."""
    for result in red:
        check = result.planned
        if not queries_cluster_dns(check) or is_named_outside(check):
            continue
        of_cluster = check.target.descriptor.naming is Naming.CLUSTER
        if of_cluster and Outcome.SERVFAIL in result.outcomes:
            yield Evidence(check=result.id, traits=frozenset({ERRORS}), red=True)


def uncompleted(ran: Sequence[CheckResult]) -> Iterator[Evidence]:
    """Yield evidence on names with a dot but no domain, from tools that append the DNS suffixes.

    If denied, they were not completed, but cluster DNS answered: no packet was lost. If found, they
    were.
    """
    for result in ran:
        check = result.planned
        if not _is_completed_by_tool(check):
            continue
        denied = was_told_no(result) and Outcome.SERVFAIL not in result.outcomes
        red = result.verdict is Verdict.FAIL and denied
        if red or result.verdict is Verdict.PASS:
            tool = check.action.resolver.value if check.action.resolver else ""
            traits = {
                Trait(Kind.UNCOMPLETED, tool),
                Trait(Kind.SOURCE_NODE, check.source.node or ""),
            }
            name = result.id if red else f"{result.id} (its suffixes)"
            yield Evidence(check=name, traits=frozenset(traits), red=red, green=not red)


def was_told_no(result: CheckResult) -> bool:
    """Whether every attempt got a DNS answer, at least one without an address: nothing was lost."""
    answers = result.outcomes - {Outcome.RESOLVED}
    return bool(answers) and answers <= {Outcome.NXDOMAIN, Outcome.SERVFAIL}


def _is_completed_by_tool(check: Check) -> bool:
    """Whether a tool in a Windows Pod must complete a name that has a dot and no domain."""
    form, tool = check.target.name_form or "", check.action.resolver
    if tool is None or not tool.is_process or check.source.os is not OS.WINDOWS:
        return False
    between = "." in form and "{domain}" not in form and not form.endswith(".")
    return between and check.claim.outcome is Outcome.RESOLVED


def _was_denied(result: CheckResult) -> bool:
    claimed = result.planned.claim.outcome is Outcome.NXDOMAIN
    return Outcome.NXDOMAIN in result.outcomes and not claimed


def _in_full(check: Check) -> bool:
    form = check.target.name_form or ""
    return check.target.descriptor.naming is Naming.CLUSTER and "{domain}" in form
