"""The permissions that a run which judged nothing would have needed. Pure; for page and summary."""

from nettests.model.exit_code import ExitCode
from nettests.model.permission import FOR_FACTS, LIST_SERVICE_CIDRS
from nettests.model.words import Verdict
from nettests.report.results import Results

_REASON = "this identity may not "
"""How the reasons of such skips begin (``plan.permissions``)."""
_OF_FACTS = frozenset(map(str, (*FOR_FACTS, LIST_SERVICE_CIDRS)))


def missing_permissions(results: Results) -> tuple[str, ...]:
    """Return the permissions missing in a run that ended with exit code 7, in order of its review.

    Empty if checks were skipped for other reasons; permissions only for facts are omitted.
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
