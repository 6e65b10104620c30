"""The checks of a finished run that need another look: for ``nettests run --rerun-failed``. Reads only."""

from pathlib import Path

from nettests.compare.reading import read_results
from nettests.errors import PathError, PlanError
from nettests.model.verdict import DEVIATING
from nettests.model.words import Verdict
from nettests.plan import Choice
from nettests.session.recorded_runs import read_document, results_of

AGAIN = DEVIATING | {Verdict.UNKNOWN}


def with_failed(choice: Choice, word: str | None, reports: Path) -> Choice:
    """Return the choice, reduced to checks and members that deviated or were unknown in a run.

    ``word`` names the run, as on the command line (``recorded_runs``); ``None`` changes nothing.
    """
    if word is None:
        return choice
    path = results_of(word, reports)
    run = read_results(read_document(path), str(path))
    if run.facts is None:
        raise PathError(f"{path} has no checks: that run could not start", hint="name another run")
    again = {
        check.id: tuple(label for label, m in check.members.items() if m.verdict in AGAIN)
        for check in run.checks
        if check.verdict in AGAIN or check.standing in AGAIN
    }
    if not again:
        raise PlanError(
            f"nothing failed in run {run.run.run_id}, and nothing was unknown there",
            hint="leave --rerun-failed out, or name another run",
        )
    return Choice(
        patterns=choice.patterns, run=run.run.run_id, again=again, seed=run.facts.fleet.seed
    )
