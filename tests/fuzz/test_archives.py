"""Bundles and archives of strangers, damaged anywhere: read, or a plain error."""

import gzip
from contextlib import suppress
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from nettests.errors import PathError
from nettests.export.bundle import BrokenBundleError
from nettests.export.bundle import pack as pack_bundle
from nettests.export.bundle import unpack as unpack_bundle
from nettests.job.archive import Archive, pack, read_archive, spelled_archive, unpack
from nettests.model.run_folder import JOURNAL
from nettests.session.report_dir import write_folder
from tests.fuzz.budget import fuzz

LINES = b'{"record": "run"}\n' * 20
BUNDLE = pack_bundle({JOURNAL: LINES, "verdicts.json": b"{}\n"}, {})
RUN = "20261128-161641-f36e"
FILES = {PurePosixPath(JOURNAL): LINES, PurePosixPath("diagnostics/nodes/win-1/hns.txt"): LINES}
PACKED = pack(RUN, FILES).data
EXPANDED = gzip.decompress(PACKED)
LOG = spelled_archive(Archive(data=PACKED)).encode()


def damaged(data: st.DataObject, whole: bytes) -> bytes:
    """Return a text of which some bytes are changed, cut or added."""
    changed = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(changed) - 1))
        changed[at : at + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=4))
    return bytes(changed)


@fuzz
@given(st.data())
def test_a_damaged_bundle_is_a_plain_error(data: st.DataObject) -> None:
    """Whichever bytes are changed, cut or added."""
    with suppress(BrokenBundleError):
        unpack_bundle(damaged(data, BUNDLE), "x.zip")


@fuzz
@given(st.data())
def test_a_damaged_log_is_a_plain_error(data: st.DataObject) -> None:
    """The digest notices it, or nothing of the report was changed."""
    with suppress(PathError):
        assert unpack(read_archive(damaged(data, LOG).decode(errors="replace"))) == (RUN, FILES)


@fuzz
@given(st.data(), st.booleans())
def test_a_forged_archive_is_a_plain_error_and_stays_in_its_folder(
    data: st.DataObject, packed: bool
) -> None:
    """Headers are changed before or after packing; what can be read is written below the run's folder."""
    forged = damaged(data, PACKED) if packed else gzip.compress(damaged(data, EXPANDED), 1)
    with TemporaryDirectory() as top, suppress(PathError):
        reports = Path(top) / "reports"
        write_folder(reports, *unpack(Archive(data=forged)))
        assert [path.name for path in Path(top).iterdir()] == ["reports"]
