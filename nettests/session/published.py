"""Write the documents of a conformance report, and read them again for verification. I/O only."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nettests.conformance.conformance_report import ConformanceReport
from nettests.conformance.report_page import YAML, document, documents
from nettests.conformance.verification import Mismatch, mismatches, read_report
from nettests.errors import PathError
from nettests.model import limits
from nettests.outside_files import read_text
from nettests.private import make_folder, write_text

BESIDE = "the document that this report gives"


def publish(report: ConformanceReport, folder: Path) -> Path:
    """Write all documents, and return the folder; ``PathError`` where it cannot be written."""
    try:
        make_folder(folder)
        for name, text in documents(report).items():
            write_text(folder / name, text)
    except OSError as error:
        raise PathError(
            f"{folder} cannot be written: {error.strerror}", hint="name a folder of yours with --to"
        ) from error
    return folder


def published(file: Path) -> Mapping[str, Any]:
    """Return the data of a published report, none of which is believed."""
    return read_report(_text(file), str(file))


def compared(file: Path, report: ConformanceReport) -> tuple[Mismatch, ...]:
    """Return where a published report differs from the one recomputed: in its data, its text, and its other documents.

    Documents that do not lie beside it are not missed: the YAML document alone is the report.
    """
    differences = list(mismatches(published(file), document(report)))
    for name, text in documents(report).items():
        path = file if name == YAML else file.parent / name
        if path.is_file() and _text(path) != text and not (name == YAML and differences):
            differences.append(Mismatch(place=path.name, stated="another text", recomputed=BESIDE))
    return tuple(differences)


def _text(file: Path) -> str:
    try:
        return read_text(file, limits.JSON_BYTES)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise PathError(
            f"the report {file} cannot be read: {reason}",
            hint=f"name its {YAML}, as nettests conformance wrote it",
        ) from error
