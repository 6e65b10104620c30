"""The exit code of a run: pytest's, refined by the verdicts. Pure."""

from collections.abc import Collection, Mapping

from nettests.model.exit_code import ExitCode
from nettests.model.verdict import DEVIATING
from nettests.model.words import FailOn, Verdict


def of_run(
    status: int,
    verdicts: Mapping[str, Verdict],
    required: Mapping[str, Collection[str]],
    *,
    others_failed: bool,
    members: Collection[Verdict] = (),
    fail_on: Collection[FailOn] = (),
) -> int:
    """Return the exit code of a run that pytest ended with ``status``.

    ``verdicts`` are by check id, ``required`` holds the check ids of each required flow that was
    planned; ``others_failed``: a test that is no check failed. ``members`` are needed too: a check
    shows only the worst verdict of its members in summary order, where ``unknown`` hides ``flaky``.
    """
    if status not in {ExitCode.OK, ExitCode.TESTS_FAILED}:
        return int(status)
    seen = {*verdicts.values(), *members}
    bugs = Verdict.KNOWN_BUG in seen
    if others_failed or seen & DEVIATING or (bugs and FailOn.KNOWN_BUGS in fail_on):
        return ExitCode.TESTS_FAILED
    if Verdict.UNKNOWN in seen:
        return ExitCode.UNKNOWN
    judged = {check for check, verdict in verdicts.items() if verdict is not Verdict.SKIPPED}
    if not judged or not all(judged & set(due) for due in required.values()):
        return ExitCode.NOTHING_JUDGED
    return ExitCode.KNOWN_BUGS if bugs else ExitCode.OK


def of_watch(
    verdicts: Mapping[str, Verdict],
    *,
    completed: bool,
    mostly_lost: bool,
    members: Collection[Verdict] = (),
) -> int:
    """Return the exit code of a watch: that of a run, but not 0 if it covered too little of its time.

    ``completed``: its schedule ended; ``mostly_lost``: it lost more rounds than it judged.
    """
    if not {*verdicts.values(), *members} & DEVIATING:
        if not completed:
            return ExitCode.INTERRUPTED
        if mostly_lost:
            return ExitCode.UNKNOWN
    return of_run(ExitCode.OK, verdicts, {}, others_failed=False, members=members)
