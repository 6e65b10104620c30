"""Checks that a run could not make for lack of permissions, as text for the terminal. Pure.

A skip names only the first missing permission; granting that one alone would reveal the next. So all are named.
"""

from nettests.model.exit_code import ExitCode
from nettests.model.permission import FOR_FACTS, LIST_SERVICE_CIDRS
from nettests.model.words import Verdict
from nettests.report.results import Results

_REASON = "this identity may not "
"""How the reasons of such skips begin (``plan.permits``)."""
_OF_FACTS = frozenset(map(str, (*FOR_FACTS, LIST_SERVICE_CIDRS)))


def missing_permissions(results: Results) -> tuple[str, ...]:
    """Return what a run that ended with 7 would have needed to be allowed, in the order of its review.

    Nothing where other reasons left out what was planned; what only facts are read by is left out.
    """
    if results.run.exit_code != ExitCode.NOTHING_JUDGED or results.facts is None:
        return ()
    skipped = (check.message for check in results.checks if check.verdict is Verdict.SKIPPED)
    if not any(message.startswith(_REASON) for message in skipped):
        return ()
    return tuple(
        permission
        for permission in results.facts.denied
        if permission not in _OF_FACTS and not permission.startswith("get configmaps ")
    )
