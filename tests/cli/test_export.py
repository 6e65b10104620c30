"""``nettests export``: a bundle is written and counted, and a person sees beforehand what would leave."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from nettests.cli import main
from nettests.export.bundle import README, UNREAD, index_of, unpack
from nettests.model.codec import data_of, encode
from nettests.model.journal_records import Answer
from nettests.session.exporting import run_of
from nettests.session.journal import read_journal
from scripts.field_bundle import BUNDLES

STRANGE = "Störungsmeldung bei acme-db-7.acme.corp"
SECRETS = ("acme", "störungsmeldung")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that wrote no documents; one answer of it nobody can read."""
    folder = tmp_path_factory.mktemp("reports") / "20261121-140412-k7m2"
    folder.mkdir()
    with run_of(BUNDLES / "lab-rules-come-late.zip") as recorded:
        told = [*read_journal(recorded / "journal.jsonl")]
    first = next(at for at, one in enumerate(told) if isinstance(one, Answer))
    answer = told[first]
    assert isinstance(answer, Answer)
    strange = replace(answer.raw, tool="ping", stdout=STRANGE, status=None, exit_code=1)
    told[first] = Answer(raw=strange)
    (folder / "journal.jsonl").write_bytes(b"".join(encode(data_of(one)) for one in told))
    return folder


def called(*arguments: str | Path) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main, ["export", *map(str, arguments)])


def test_a_bundle_is_written_counted_and_judged(run: Path, tmp_path: Path) -> None:
    """What was replaced by kind and number, that verdicts are the same, and where the file is."""
    target = tmp_path / "out" / "b.zip"
    done = called(run, "-o", target)
    assert done.exit_code == 0, done.output
    assert "IP addresses" in done.output
    assert "verdicts are the same in the bundle" in done.output
    assert f"bundle: {target}" in done.output
    members = unpack(target.read_bytes(), "b")
    index = index_of(members)
    assert index["differing"] == []
    assert index["unread"] == 1
    assert index["replaced"]["address"]["things"] > 5
    everything = b"".join(members.values()).decode().lower()
    assert not [one for one in SECRETS if one in everything]
    assert "ping on" in members[UNREAD].decode()
    assert "IP addresses" in members[README].decode()
    assert target.stat().st_mode & 0o077 == 0


def test_a_person_sees_what_would_leave(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is written; what is held back is named for its owner, and the texts that leave are without it."""
    monkeypatch.chdir(tmp_path)
    done = called(run, "--show")
    assert done.exit_code == 0, done.output
    assert not [*tmp_path.iterdir()]
    held, _, leaves = done.output.partition("All texts in the bundle")
    assert "störungsmeldung" in held
    assert "/dial?host=" in leaves
    assert not [one for one in SECRETS if one in leaves.lower()]


def test_a_word_may_be_kept(run: Path, tmp_path: Path) -> None:
    """Whoever has read it lets a word leave: without it, nobody can teach the parser."""
    target = tmp_path / "b.zip"
    assert called(run, "-o", target, "--keep", "Störungsmeldung").exit_code == 0
    told = unpack(target.read_bytes(), "b")[UNREAD].decode()
    assert "Störungsmeldung" in told
    assert "acme" not in told


def test_programs_are_told_the_same(run: Path, tmp_path: Path) -> None:
    """One JSON object; what is held back only where nothing is written."""
    target = tmp_path / "b.zip"
    told = json.loads(called(run, "-o", target, "--json").output)
    assert told["bundle"] == str(target)
    assert "held_back" not in told
    shown = json.loads(called(run, "--show", "--json").output)
    assert shown["bundle"] is None
    assert "störungsmeldung" in shown["held_back"]["word"]
    assert shown["verdicts"] == told["verdicts"] > 5


def test_two_bundles_of_a_run_do_not_show_that_they_are(run: Path, tmp_path: Path) -> None:
    """The key of addresses is drawn anew."""
    one, other = tmp_path / "1.zip", tmp_path / "2.zip"
    for target in (one, other):
        assert called(run, "-o", target).exit_code == 0
    assert (
        unpack(one.read_bytes(), "1")["journal.jsonl"]
        != unpack(other.read_bytes(), "2")["journal.jsonl"]
    )


def test_what_is_no_run_is_told(tmp_path: Path) -> None:
    """A name that means nothing, and a journal that was not written by a run."""
    assert "there is no run" in called("nowhere", "--report-dir", tmp_path).output
    (tmp_path / "b.zip").write_bytes(b"a bundle, or anything else")
    for what in (tmp_path, tmp_path / "b.zip"):
        refused = called(what)
        assert (refused.exit_code, refused.stdout) == (4, "")
        assert f"there is no journal.jsonl of the run {what}" in " ".join(refused.output.split())
        assert "name a run's folder" in refused.output
    (tmp_path / "journal.jsonl").write_text('{"record": "facts", "facts": 5}\n')
    told = called(tmp_path)
    assert told.exit_code != 0
    assert "was not written by a run" in told.output


def test_a_damaged_bundle_is_told_by_rejudge(run: Path, tmp_path: Path) -> None:
    """A sentence and the next step, and nothing is written."""
    target = tmp_path / "b.zip"
    assert called(run, "-o", target).exit_code == 0
    target.write_bytes(target.read_bytes()[:-300])
    told = CliRunner().invoke(main, ["rejudge", str(target)])
    assert told.exit_code != 0
    assert "was cut short or damaged" in told.output
    assert not (tmp_path / "b-rejudged").exists()
