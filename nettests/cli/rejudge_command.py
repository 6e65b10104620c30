"""``nettests rejudge RUN``: judge a finished run again with the current manifests, without its cluster.

For authors of manifests: recorded answers are kept; expectations and verdicts are computed again.
"""

import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from nettests import terminal
from nettests.cli.help import Command
from nettests.cli.options import own_options, shared
from nettests.cli.output_options import json_option
from nettests.model.run_folder import HTML
from nettests.model.words import FailOn
from nettests.plugin.documents import write_documents
from nettests.plugin.notifications import notifications_of
from nettests.private import require_writable
from nettests.session.baseline_comparison import baseline_of
from nettests.session.blueprint import read_manifests
from nettests.session.exporting import run_of
from nettests.session.rejudge import Held, Rejudged, judge_again


@click.command(cls=Command, example="nettests rejudge reports/latest --limitations=site.yaml")
@click.argument(
    "run",
    type=click.Path(path_type=Path, exists=True),
    metavar="RUN",
)
@shared("--limitations")
@own_options("rejudge")
@shared("--fail-on", "--baseline", "--metrics")
@json_option()
def rejudge(
    *,
    run: Path,
    limitations: tuple[Path, ...],
    report_dir: Path | None,
    fail_on: tuple[str, ...],
    baseline: Path | None,
    metrics: Path | None,
    as_json: bool,
) -> None:
    """Judge a finished run again, with the current manifests.

    The cluster is not contacted.

    RUN is the folder of a run, such as reports/latest, or a bundle that nettests export made.
    Exit codes are those of a run.
    """
    target = report_dir or _target(run)
    manifests, digests = read_manifests(limitations)
    failing = tuple(FailOn(word) for word in fail_on)
    held = Held(baseline=baseline_of(baseline, failing), fail_on=failing)
    notifications = notifications_of(metrics)
    today = datetime.now(UTC).date()
    with run_of(run) as folder:
        require_writable(target)
        again = judge_again(folder, target, manifests, digests, today=today, held=held)
    # From the new journal only: the original may be somebody else's, with secrets.
    results = write_documents(target)
    if as_json:
        terminal.document(_as_data(again, target / HTML))
    else:
        for judgement in again.changed:
            before = again.before.get(judgement.check)
            was = before.value if before else "not judged"
            terminal.line(f"{was} → {judgement.verdict}  {judgement.message}")
        terminal.line(f"{len(again.changed)} of {len(again.judgements)} verdicts changed")
        terminal.lines(again.comparison.lines() if again.comparison else ())
        terminal.line(f"report: {target / HTML}")
    notifications.send(results, target, lambda sentence: terminal.line(sentence, err=as_json))
    sys.exit(again.exit_code)


def _target(run: Path) -> Path:
    return run / "rejudged" if run.is_dir() else run.with_name(f"{run.stem}-rejudged")


def _as_data(again: Rejudged, report: Path) -> dict[str, object]:
    """Return what changed; ``before`` is null if the check was not judged."""
    return {
        "changed": [
            {
                "check": judgement.check,
                "before": before.value if before else None,
                "after": judgement.verdict.value,
                "message": judgement.message,
            }
            for judgement in again.changed
            for before in [again.before.get(judgement.check)]
        ],
        "judged": len(again.judgements),
        "baseline": list(again.comparison.lines()) if again.comparison else [],
        "report": str(report),
        "exit_code": int(again.exit_code),
    }
