"""What ``nettests calibrate`` returns, and the bundle that it leaves where something is not understood."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from nettests.model.exit_code import ExitCode
from nettests.model.run_folder import CALIBRATION
from nettests.private import write_bytes
from nettests.report.instruments import InstrumentRow
from nettests.session.exporting import exported


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibratedNow:
    """What was understood, and what stood in the way; ``folder`` has the journal."""

    folder: Path
    rows: tuple[InstrumentRow, ...]
    remarks: tuple[str, ...]
    bundle: Path | None = None
    """An anonymous copy to send, where something is not understood."""

    @property
    def exit_code(self) -> ExitCode:
        """Whether each instrument is understood, some are not, or nothing answered."""
        if not self.rows:
            return ExitCode.NOTHING_JUDGED
        understood = all(row.trusted for row in self.rows)
        return ExitCode.OK if understood else ExitCode.UNKNOWN

    def bundled(self) -> "CalibratedNow":
        """Return it with a bundle beside its journal, where somebody can help to read it."""
        if self.exit_code is not ExitCode.UNKNOWN:
            return self
        bundle = self.folder / f"{self.folder.name}.zip"
        write_bytes(bundle, exported(self.folder, today=datetime.now(UTC).date()).bundle())
        return replace(self, bundle=bundle)


def folder_of(report_dir: Path, run_id: str) -> Path:
    """Return the folder of one calibration."""
    return report_dir / f"{CALIBRATION}{run_id}"
