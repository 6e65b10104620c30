"""A run's folder as compressed text that fits into a log, and back. Pure.

A kubelet keeps logs of ended containers, so whoever may read the log gets the report, without
volume or server. The text has its length and digest, so that truncated logs are detected.
"""

import base64
import gzip
import hashlib
import io
import re
import tarfile
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from nettests.errors import PathError
from nettests.model.limits import MIB
from nettests.model.run_folder import DIAGNOSTICS, JOURNAL, RUN_ID

LOG_BYTES = 7 * MIB
"""For an encoded archive: a kubelet keeps 10 MiB of a log, and the run's output is first."""
UNPACKED_BYTES = 256 * MIB
"""The most that an archive may expand to: the folder of the largest run has a tenth of it."""
MEMBERS = 20_000
"""The most files in an archive; diagnostics of a large failing cluster are some thousand."""
_WIDTH = 96
BEGIN = "-----BEGIN NETTESTS ARCHIVE-----"
# sample: -----END NETTESTS ARCHIVE sha256=9f86d081… bytes=181324 left-out=diagnostics-----
_END = re.compile(
    r"^-----END NETTESTS ARCHIVE sha256=(?P<digest>[0-9a-f]{64}) bytes=(?P<size>\d{1,12})"
    r" left-out=(?P<left_out>[\w.,-]*)-----\s*$",
    re.MULTILINE,
)
Files = Mapping[PurePosixPath, bytes]
"""By path below the run's folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """A compressed folder; ``left_out`` names what would have made it too large."""

    data: bytes
    left_out: tuple[str, ...] = ()


def pack(run: str, files: Files, most: int | None = None) -> Archive:
    """Return the folder ``run`` as ``.tar.gz``, the same bytes for the same files.

    Above ``most`` bytes, omit diagnostics, then the journal; ``PathError`` if still too large.
    """
    kept = dict(files)
    left_out: list[str] = []
    for name in (None, DIAGNOSTICS, JOURNAL):
        if name is not None:
            without = {path: text for path, text in kept.items() if path.parts[0] != name}
            if len(without) == len(kept):
                continue
            kept, left_out = without, [*left_out, name]
        data = _compressed(run, kept)
        if most is None or len(data) <= most:
            return Archive(data=data, left_out=tuple(left_out))
    raise PathError(
        f"the report of {run} has {len(data) / MIB:.1f} MiB compressed, too much for a log",
        hint="let a PersistentVolumeClaim keep the reports: nettests job apply --claim",
    )


def spelled_archive(archive: Archive) -> str:
    """Return an archive as lines of text, with length and digest at the end."""
    digest = hashlib.sha256(archive.data).hexdigest()
    body = textwrap.wrap(base64.b64encode(archive.data).decode("ascii"), _WIDTH)
    left_out = ",".join(archive.left_out)
    end = f"-----END NETTESTS ARCHIVE sha256={digest} bytes={len(archive.data)} left-out={left_out}-----"
    return "\n".join([BEGIN, *body, end])


def packable(most: int = LOG_BYTES) -> int:
    """Return the maximum size of an archive that is encoded in ``most`` bytes."""
    lines = most // (_WIDTH + 1) - 4
    return lines * _WIDTH // 4 * 3


def without_archive(log: str) -> str:
    """Return the log before its archive."""
    return log.partition(BEGIN)[0]


def read_archive(log: str) -> Archive:
    """Return the last archive in a log; ``PathError`` if it is missing or damaged."""
    ends = list(_END.finditer(log))
    if not ends:
        begun = BEGIN in log
        raise PathError(
            "the log holds only the beginning of a report" if begun else "the log holds no report",
            hint="the run was killed while it printed it; what a claim keeps is not lost"
            if begun
            else "has the run ended, and is its Job without a claim? `nettests job logs` says what it printed",
        )
    end = ends[-1]
    body = log[: end.start()].rpartition(BEGIN)[2]
    try:
        data = base64.b64decode("".join(body.split()), validate=True)
    except ValueError as error:
        raise _damaged("something else stands between its lines") from error
    if len(data) != int(end["size"]):
        raise _damaged(f"it has {len(data)} bytes of {end['size']}")
    if hashlib.sha256(data).hexdigest() != end["digest"]:
        raise _damaged("its digest does not match")
    return Archive(data=data, left_out=tuple(filter(None, end["left_out"].split(","))))


def unpack(archive: Archive) -> tuple[str, dict[PurePosixPath, bytes]]:
    """Return the name of the run and its files; ``PathError`` for anything else.

    Only regular files below one folder are accepted: no links, no paths upwards, within limits.
    """
    try:
        with tarfile.open(fileobj=io.BytesIO(_expanded(archive.data)), mode="r:") as packed:
            files = dict(_files(packed))
    except PathError:
        raise
    except Exception as error:  # whatever gzip and tar raise for damaged headers
        raise _damaged(str(error)) from error
    runs = {path.parts[0] for path in files}
    if len(runs) != 1:
        raise _damaged(f"it holds {len(runs)} folders")
    run = runs.pop()
    if not RUN_ID.fullmatch(run):
        raise _damaged(f"it holds a folder {run!r}, which is no run's")
    return run, {PurePosixPath(*path.parts[1:]): content for path, content in files.items()}


def _files(packed: tarfile.TarFile) -> Iterator[tuple[PurePosixPath, bytes]]:
    for number, member in enumerate(packed):
        path = PurePosixPath(member.name)
        upwards = path.is_absolute() or ".." in path.parts
        if member.type != tarfile.REGTYPE or upwards or len(path.parts) < 2:
            raise _damaged(f"it holds {member.name!r}, which is no file of a run")
        if number >= MEMBERS:
            raise _damaged(f"it holds more than {MEMBERS} files")
        content = packed.extractfile(member)
        assert content is not None  # of a regular file
        yield path, content.read()


def _expanded(data: bytes) -> bytes:
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as squeezed:
        text = squeezed.read(UNPACKED_BYTES + 1)
    if len(text) > UNPACKED_BYTES:
        raise _damaged(f"it expands to more than {UNPACKED_BYTES // MIB} MiB")
    return text


def _compressed(run: str, files: Files) -> bytes:
    written = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=written, mode="wb", mtime=0) as squeezed,
        tarfile.open(fileobj=squeezed, mode="w", format=tarfile.PAX_FORMAT) as packed,
    ):
        for path in sorted(files):
            member = tarfile.TarInfo(str(PurePosixPath(run) / path))
            member.size, member.mode = len(files[path]), 0o600
            packed.addfile(member, io.BytesIO(files[path]))
    return written.getvalue()


def _damaged(what: str) -> PathError:
    return PathError(
        f"the report in the log is damaged: {what}",
        hint="fetch it again; a log that the kubelet has rotated is lost, and a claim is not",
    )
