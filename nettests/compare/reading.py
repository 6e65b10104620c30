"""The text of a ``results.json`` → ``RecordedRun``, or an error that says how to get a valid one.

The reverse of ``report.results_json``. Unknown keys are ignored: a newer version with the same ``apiVersion`` may add
some. The file's path is used in messages only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from cattrs.errors import BaseValidationError

from nettests.compare.former_ids import current
from nettests.compare.recorded import RecordedRun
from nettests.errors import PathError
from nettests.model.codec import from_data
from nettests.model.json_text import read_json
from nettests.model.limits import TooMuchError
from nettests.model.nearest import nearest
from nettests.report.results import API_VERSION

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Readable:
    """A kind of document that is read again: ``holds`` is what it is to people, ``writers`` who make it, ``hint`` what they should name."""

    kind: str
    version: str
    holds: str
    writers: str
    hint: str
    again: str


RESULTS = Readable(
    kind="Results",
    version=API_VERSION,
    holds="results of a run",
    writers="runs",
    hint="name a run's folder or its results.json",
    again="make it again from the journal beside it: nettests rejudge RUN_DIR",
)


def read_results(text: str | bytes, name: str) -> RecordedRun:
    """Return the run in the text of a document, in today's ids; ``PathError`` for everything else."""
    return current(read_value(text, name, RESULTS, RecordedRun))


def read_value(text: str | bytes, name: str, wanted: Readable, kind: type[T]) -> T:
    """Return the value in the text of a document of this project; ``PathError`` for everything else."""
    data = _document(text, name, wanted)
    try:
        return from_data(_ledger(data) if kind is RecordedRun else data, kind)
    except (BaseValidationError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise PathError(
            f"{name} is not as {wanted.writers} write it: {_first(error)}", hint=wanted.again
        ) from error


def _ledger(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a document with the members of each check by their labels; it groups them by what became of them."""
    checks = []
    for check in data.get("checks", ()):
        groups = check.get("members") or {}
        members = {label: group for group in groups.get("others", ()) for label in group["members"]}
        members |= {member["member"]: member for member in groups.get("deviating", ())}
        checks.append({**check, "members": members})
    return {**data, "checks": checks}


def _document(text: str | bytes, name: str, wanted: Readable) -> Mapping[str, Any]:
    try:
        data = read_json(text)
    except TooMuchError as error:
        raise PathError(f"{name} is not read: {error}") from error
    except ValueError as error:
        raise PathError(
            f"{name} cannot be read: {error}; it is cut off, or no JSON", hint=wanted.again
        ) from error
    kind, version = (
        data.get(key) if isinstance(data, dict) else None for key in ("kind", "apiVersion")
    )
    if not isinstance(data, dict) or kind != wanted.kind:
        detail = f": its kind is {kind!r}" if kind is not None else ""
        raise PathError(f"{name} holds no {wanted.holds}{detail}", hint=wanted.hint)
    if version != wanted.version:
        reads = f"this version reads {wanted.version}"
        hint = nearest(str(version), [wanted.version], otherwise=reads)
        raise PathError(
            f"{name} has apiVersion {version!r}, which this version of nettests does not read",
            hint=f"{hint}; compare with the version of nettests that wrote it, or a newer one",
        )
    return data


def _first(error: BaseException) -> str:
    """Return the innermost reason of an error that may hold others."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing"
    return str(error) or type(error).__name__
