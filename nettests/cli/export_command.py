"""``nettests export RUN``: an anonymised bundle of a run, from which the project learns to read new answers."""

from datetime import UTC, datetime
from pathlib import Path

import click

from nettests import __version__, terminal
from nettests.cli.help import Command
from nettests.cli.options import own_options, report_dir_option
from nettests.export.bundle import SAID, counted_line, readme, replaced, texts_of, unread_text
from nettests.export.pseudonyms import Kind
from nettests.model.visible import plural
from nettests.private import make_folder, write_bytes
from nettests.session.exporting import Exported, exported
from nettests.session.recorded_runs import folder_of

_SHOWN = 5
"""How many differing checks are printed; the bundle's index has all."""


@click.command(cls=Command, example="nettests export latest -o bundle.zip")
@click.argument("run", metavar="RUN")
@own_options("export")
@report_dir_option("Where latest is looked for.")
def export(
    *,
    run: str,
    output: Path | None,
    show: bool,
    keep: tuple[str, ...],
    report_dir: Path,
    as_json: bool,
) -> None:
    """Make an anonymous bundle of a run, to send to the project.

    RUN is a run's folder, or latest, latest~1 … Names, addresses and unknown words are replaced, each by the same
    pseudonym everywhere. The bundle is judged before it is written: its verdicts have to be those of the run.
    """
    folder = folder_of(run, report_dir)
    exported_run = exported(folder, today=datetime.now(UTC).date(), keep=keep)
    if show:
        if as_json:
            terminal.document(_as_data(exported_run, None))
        else:
            _show(exported_run)
        return
    target = output or Path(f"nettests-bundle-{folder.resolve().name}.zip")
    data = exported_run.bundle()
    make_folder(target.resolve().parent)
    write_bytes(target, data)
    if as_json:
        terminal.document(_as_data(exported_run, target))
        return
    for replacement in replaced(exported_run.pseudonyms):
        terminal.line(counted_line(replacement))
    _tell_verdicts(exported_run)
    if exported_run.pseudonyms.counts[Kind.WORD]:
        terminal.line(f"words of free text were replaced; nettests export {run} --show lists them")
    terminal.line(f"bundle: {target} ({len(data) / 1024:.0f} KiB)")


def _as_data(exported_run: Exported, target: Path | None) -> dict[str, object]:
    """Return the bundle's contents; with ``--show`` also the words that were replaced."""
    held = {
        kind.value: list(exported_run.pseudonyms.originals(kind))
        for kind in (Kind.WORD, Kind.NAME)
        if target is None
    }
    return {
        "bundle": None if target is None else str(target),
        "verdicts": len(exported_run.judgements),
        "differing": [after.check for _, after in exported_run.differing],
        "unread": [answer.text for answer in exported_run.unread],
        "replaced": {
            replacement.kind.value: {"things": replacement.things, "places": replacement.places}
            for replacement in replaced(exported_run.pseudonyms)
        },
        **({"held_back": held} if held else {}),
    }


def _tell_verdicts(exported_run: Exported) -> None:
    same = len(exported_run.judgements) - len(exported_run.differing)
    terminal.line(
        f"{same} of {plural(len(exported_run.judgements), 'verdict')} are the same in the bundle"
    )
    for before, after in exported_run.differing[:_SHOWN]:
        terminal.line(
            f"  {before.check}: {before.verdict} here, {after.verdict} in the bundle: {after.message}"
        )
    if len(exported_run.differing) > _SHOWN:
        terminal.line(f"  … and {len(exported_run.differing) - _SHOWN} more, in its index")


def _show(exported_run: Exported) -> None:
    """Print the texts of the bundle and the replaced words; the latter are for the cluster's owner only."""
    counted = replaced(exported_run.pseudonyms)
    text = readme(counted, checks=len(exported_run.judgements), version=__version__)
    terminal.lines(text.split("\n"))
    _tell_verdicts(exported_run)
    for kind in (Kind.WORD, Kind.NAME):
        if held := exported_run.pseudonyms.originals(kind):
            terminal.lines(("", f"Held back, {SAID[kind]} (--keep WORD lets one leave):"))
            terminal.line(f"  {' '.join(held)}")
    if exported_run.unread:
        terminal.lines(("", "Answers that are not understood, as the bundle has them:"))
        terminal.lines(unread_text(exported_run.unread).split("\n"))
    terminal.lines(("", "All texts in the bundle, each wording once:"))
    terminal.lines(f"  {text}" for text in texts_of(exported_run.records))
