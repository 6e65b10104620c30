"""The file that leaves: read back as it was written, and anything else is told with its cause."""

import io
import json
import zipfile

import pytest

from nettests.export import bundle
from nettests.export.bundle import BrokenBundleError, pack, unpack

TEXTS = {
    "README.txt": b"read me\n",
    "journal.jsonl": b'{"record": "run"}\n' * 500,
    "verdicts.json": b"{}\n",
    "unread.txt": b"",
}
DATA = pack(TEXTS, {"nettests": "0.1.0"})


def rewritten(change: dict[str, bytes | None]) -> bytes:
    """Return the bundle with members changed, added, or, for ``None``, left out."""
    with zipfile.ZipFile(io.BytesIO(DATA)) as archive:
        members: dict[str, bytes | None] = {one: archive.read(one) for one in archive.namelist()}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in {**members, **change}.items():
            if data is not None:
                archive.writestr(name, data)
    return file.getvalue()


def index(**change: object) -> bytes:
    """Return the index with some fields changed."""
    told = json.loads(unpack(DATA, "x")["bundle.json"])
    return json.dumps({**told, **change}).encode()


def test_a_bundle_is_read_as_it_was_written() -> None:
    """All members, and what the index says besides."""
    members = unpack(DATA, "b.zip")
    assert {name: members[name] for name in TEXTS} == TEXTS
    assert bundle.index_of(members)["nettests"] == "0.1.0"


def test_equal_texts_make_equal_bytes() -> None:
    """No time of the export is in it."""
    assert pack(TEXTS, {"nettests": "0.1.0"}) == DATA


@pytest.mark.parametrize("length", [0, 1, 100, len(DATA) // 2, len(DATA) - 1])
def test_a_bundle_that_was_cut_short_is_told(length: int) -> None:
    """However much of it came."""
    with pytest.raises(
        BrokenBundleError, match=r"b\.zip is not a bundle, or was cut short or damaged"
    ):
        unpack(DATA[:length], "b.zip")


def test_each_flipped_byte_of_content_is_told() -> None:
    """Damage on the way never passes for the run."""
    for place in range(0, len(DATA), 7):
        broken = DATA[:place] + bytes([DATA[place] ^ 0x5A]) + DATA[place + 1 :]
        try:
            members = unpack(broken, "b.zip")
        except BrokenBundleError:
            continue
        assert {name: members[name] for name in TEXTS} == TEXTS  # a byte that no reader looks at


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"journal.jsonl": b'{"record": "run"}\n'}, "journal.jsonl in b.zip was changed since"),
        ({"journal.jsonl": None}, "b.zip lacks its journal.jsonl"),
        ({"bundle.json": None}, "b.zip is not a bundle of nettests: it has no bundle.json"),
        ({"bundle.json": b"{"}, "the bundle.json in b.zip cannot be read"),
        ({"bundle.json": b"[]"}, "the bundle.json in b.zip cannot be read"),
        ({"bundle.json": index(kind="Results")}, "b.zip is Results"),
        (
            {"bundle.json": index(apiVersion="nettests.dev/v9")},
            "this version of nettests reads Bundle",
        ),
        ({"bundle.json": index(sha256={})}, "lists no journal.jsonl"),
        ({"bundle.json": index(sha256=5)}, "cannot be read"),
    ],
)
def test_what_was_changed_is_named(change: dict[str, bytes | None], told: str) -> None:
    """A member that was edited, is missing or is not listed; an index that is none."""
    with pytest.raises(BrokenBundleError, match=told.replace(".", r"\.")) as raised:
        unpack(rewritten(change), "b.zip")
    assert raised.value.hint


def test_a_member_that_is_not_listed_is_told() -> None:
    """A README that somebody put there is not the bundle's."""
    left = {name: text for name, text in TEXTS.items() if name != "unread.txt"}
    file = io.BytesIO(pack(left, {}))
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("unread.txt", b"x")
    with pytest.raises(
        BrokenBundleError, match=r"holds unread\.txt, which its bundle\.json does not list"
    ):
        unpack(file.getvalue(), "b.zip")


def test_files_of_other_names_are_never_touched() -> None:
    """A path that leads elsewhere is no member that anybody reads."""
    assert set(unpack(rewritten({"../../etc/passwd": b"x"}), "b.zip")) == {*TEXTS, "bundle.json"}
