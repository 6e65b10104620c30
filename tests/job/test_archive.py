"""A report as text in a log: whole, or noticed not to be; and nothing but files of one folder comes out of it."""

import gzip
import io
import random
import tarfile
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nettests.errors import PathError
from nettests.job import archive
from nettests.job.archive import (
    BEGIN,
    Archive,
    pack,
    packable,
    read_archive,
    spelled_archive,
    unpack,
    without_archive,
)

RUN = "20261125-021700-ab12"
FILES = {
    PurePosixPath("results.json"): b'{"a": 1}',
    PurePosixPath("journal.jsonl"): b"{}\n" * 50,
    PurePosixPath("diagnostics/node-1/ipconfig.txt"): "Ethernet – vEthernet".encode(),
}


def log_of(made: Archive) -> str:
    return f"deploy\nall as documented\n{spelled_archive(made)}\n"


def test_what_is_packed_comes_back() -> None:
    """Names, folders and bytes, out of a log that says other things before and after."""
    log = log_of(pack(RUN, FILES)) + "webhook: the summary was sent\n"
    assert unpack(read_archive(log)) == (RUN, FILES)
    assert without_archive(log) == "deploy\nall as documented\n"


def test_the_same_files_give_the_same_text() -> None:
    """No clock and no owner is in it."""
    assert pack(RUN, FILES) == pack(RUN, dict(reversed(FILES.items())))


@given(st.dictionaries(st.text("abc.", min_size=1, max_size=6).filter(lambda name: set(name) != {"."}), st.binary(max_size=300), min_size=1, max_size=5))  # fmt: skip
def test_any_bytes_survive(files: dict[str, bytes]) -> None:
    """Whatever a tool printed; and kubelets and terminals that end lines otherwise change nothing."""
    packed = pack(RUN, {PurePosixPath(name): content for name, content in files.items()})
    text = log_of(packed).replace("\n", "\r\n")
    assert unpack(read_archive(text))[1] == {PurePosixPath(k): v for k, v in files.items()}


def test_the_last_archive_counts() -> None:
    """What a cluster's own text says earlier in the log does not take its place."""
    forged = log_of(pack("forged", FILES))
    assert unpack(read_archive(forged + BEGIN + "\nxx\n" + log_of(pack(RUN, FILES))))[0] == RUN


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("", "holds no report"),
        ("deploy\nError: no kubeconfig", "holds no report"),
        (f"{BEGIN}\nAAAA\n", "only the beginning of a report"),
        (log_of(pack(RUN, FILES)).rpartition("-----END")[0], "only the beginning of a report"),
    ],
)
def test_a_log_without_one_says_so(log: str, said: str) -> None:
    """One that was cut is told from one that never had any."""
    with pytest.raises(PathError, match=said):
        read_archive(log)


def test_a_log_that_lost_a_line_is_noticed() -> None:
    """By length, by digest, or because another text stands between."""
    lines = log_of(pack(RUN, {PurePosixPath("x"): random.Random(1).randbytes(2000)})).splitlines()
    spoiled = {
        "bytes of": [*lines[:4], *lines[5:]],
        "its digest": [*lines[:4], lines[5], lines[4], *lines[6:]],
        "something else": [*lines[:4], "warning: !", *lines[4:]],
    }
    for said, changed in spoiled.items():
        with pytest.raises(PathError, match=said):
            read_archive("\n".join(changed))


def test_what_is_too_large_for_a_log_is_left_out_in_order() -> None:
    """Diagnostics first, then the journal; what is left out is said in the text itself."""
    noise = random.Random(2)
    files = {
        PurePosixPath("results.json"): noise.randbytes(1000),
        PurePosixPath("journal.jsonl"): noise.randbytes(2000),
        PurePosixPath("diagnostics/a"): noise.randbytes(4000),
    }
    assert pack(RUN, files, 20_000).left_out == ()
    without = pack(RUN, files, 5000)
    assert without.left_out == ("diagnostics",)
    least = read_archive(log_of(pack(RUN, files, 2000)))
    assert least.left_out == ("diagnostics", "journal.jsonl")
    assert unpack(least)[1].keys() == {PurePosixPath("results.json")}
    with pytest.raises(PathError, match="too much for a log") as refused:
        pack(RUN, files, 500)
    assert "--claim" in refused.value.hint


def test_a_log_of_a_kubelet_holds_what_may_be_printed() -> None:
    """The spelled text of the largest archive stays below the bound."""
    text = spelled_archive(Archive(data=bytes(packable(100_000))))
    assert 95_000 < len(text) <= 100_000


def packed_by_hand(*members: tarfile.TarInfo) -> Archive:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as packed:
        for member in members:
            packed.addfile(member, io.BytesIO(bytes(member.size)))
    return Archive(data=written.getvalue())


def member(name: str, kind: bytes = tarfile.REGTYPE, size: int = 0) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.size, made.linkname = kind, size, "/etc/passwd"
    return made


@pytest.mark.parametrize(
    "hostile",
    [
        *(member(name) for name in ("/etc/cron.d/x", "run/../../x", "..", "alone", "")),
        *(member("run/x", kind) for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE)),
    ],
)  # fmt: skip
def test_nothing_but_files_below_one_folder_is_taken(hostile: tarfile.TarInfo) -> None:
    """No way upwards, no link, no device: a log is written by whoever is in that Pod."""
    with pytest.raises(PathError, match="damaged"):
        unpack(packed_by_hand(member("run/results.json"), hostile))


def test_two_folders_are_no_run() -> None:
    """Nor is an archive without files."""
    with pytest.raises(PathError, match="holds 2 folders"):
        unpack(packed_by_hand(member("a/x"), member("b/x")))
    with pytest.raises(PathError, match="holds 0 folders"):
        unpack(packed_by_hand())


def test_a_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    """What expands beyond the bounds is refused: by bytes, and by number of files."""
    monkeypatch.setattr(archive, "UNPACKED_BYTES", 100_000)
    with pytest.raises(PathError, match="expands to more than"):
        unpack(Archive(data=gzip.compress(bytes(200_000))))
    monkeypatch.setattr(archive, "MEMBERS", 3)
    with pytest.raises(PathError, match="more than 3 files"):
        unpack(packed_by_hand(*(member(f"run/{n}") for n in range(5))))


@pytest.mark.parametrize(
    "data",
    [b"", b"PK\x03\x04", gzip.compress(b"no tar"), gzip.compress(b"x" * 600)[:-9]],
    ids=["empty", "another format", "no tar", "cut off"],
)
def test_what_is_no_archive_is_damaged(data: bytes) -> None:
    """Another format, and one that was cut."""
    with pytest.raises(PathError, match=r"damaged|holds 0 folders"):
        unpack(Archive(data=data))
