"""A record and its line of JSON are the same thing, whatever stands in it."""

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nettests.model.calibration import Calibration
from nettests.model.codec import data_of, decode, decode_only, encode
from nettests.model.journal_records import (
    KINDS,
    Accepted,
    Answer,
    Begin,
    Calibrated,
    Convergence,
    Diagnostics,
    Discovered,
    Done,
    End,
    Event,
    Judged,
    Limitations,
    Planned,
    Pulled,
    Reading,
    Record,
    Revised,
    Round,
    Skipped,
    Unknown,
)
from nettests.model.limits import BrokenJournalError
from nettests.model.observation import Pull, Raw
from nettests.model.verdict import Judgement
from nettests.model.words import Verdict
from tests.report.scenario import eventful, records

REAL = tuple(records(eventful()))
PLANNED = tuple(one for one in REAL if isinstance(one, Planned))
SECONDS = st.floats(allow_nan=False, allow_infinity=False)
DRAWN: Mapping[type[Record], st.SearchStrategy[Record]] = {
    Begin: st.from_type(Begin),
    Discovered: st.sampled_from([one for one in REAL if isinstance(one, Discovered)]),
    Limitations: st.from_type(Limitations),
    Planned: st.sampled_from(PLANNED),
    Skipped: st.from_type(Skipped),
    Reading: st.from_type(Reading),
    Calibrated: st.builds(
        Calibrated,
        calibration=st.builds(
            Calibration,
            seconds=SECONDS,
            context=st.from_type(dict[str, str]),
            error=st.none() | st.text(),
        ),
    ),
    Revised: st.builds(
        Revised, check=st.text(), expectation=st.sampled_from([one.expectation for one in PLANNED])
    ),
    Answer: st.builds(
        Answer,
        raw=st.builds(Raw, started=SECONDS, elapsed=SECONDS, context=st.from_type(dict[str, str])),
    ),
    Done: st.builds(
        Done,
        check=st.text(),
        answers=st.none() | st.integers(),
        distrust=st.none() | st.text(),
        skip=st.none() | st.text(),
        late=st.none() | st.text(),
        resent=st.none() | st.text(),
        overloaded=st.lists(st.integers(), max_size=3).map(tuple),
        judgement=st.none() | st.from_type(Judgement),
    ),
    Convergence: st.builds(Convergence, seconds=SECONDS),
    Round: st.builds(Round, seconds=SECONDS),
    Event: st.builds(Event, notable=st.booleans()),
    Pulled: st.builds(Pulled, pull=st.builds(Pull, seconds=SECONDS)),
    Diagnostics: st.from_type(Diagnostics),
    Accepted: st.from_type(Accepted),
    Judged: st.from_type(Judged),
    End: st.builds(End, exit_code=st.none() | st.integers(), counts=st.from_type(dict[str, int])),
}
"""Records of each kind. Facts and checks are those of a plan: their own values have tests of their own."""

LINES = {
    "run": '{"record": "run", "run_id": "r", "started": "s", "nettests": "1", "context": "c", "server": "h", '
    '"cluster_profile": null, "argv": ["nettests"], "suites": [], "manifests": [{"file": "f", "sha256": "d"}]}',
    "limitations": '{"record": "limitations", "unused": '
    '[{"id": "i", "summary": "s", "layer": "cni", "file": "f", "line": 3}]}',
    "skip": '{"record": "skip", "skip": {"id": "i", "flow": "f", "reason": "r", "required": false, "suite": ""}}',
    "done": '{"record": "done", "check": "a", "answers": 0}',
    "convergence": '{"record": "convergence", "service": "s", "probe": "p", "seconds": 1.235, "converged": true}',
    "round": '{"record": "round", "number": 3, "started": "s", "seconds": 9.5, "ran": 104, "red": {"a": "fail"}, "unknown": [], "lost": ""}',
    "calibration": '{"record": "calibration", "calibration": {"node": "n", "vantage": "pod", "os": "linux", "probe": "p", '
    '"questions": [{"name": "ping/itself", "words": ["ping", "::1"]}], "command": ["sh"], "exit_code": 3, "stdout": "o", "stderr": "", '
    '"error": null, "seconds": 0.5, "context": {}}}',
    "event": '{"record": "event", "at": "t", "text": "sérver"}',
    "pull": '{"record": "pull", "pull": {"image": "i", "node": "n", "seconds": 1.5, "problem": ""}}',
    "diagnostics": '{"record": "diagnostics", "subject": "s", "folder": "diagnostics/n", "checks": ["a"], "items": '
    '[{"title": "t", "file": "f", "asked": "", "bytes": 7, "cut": true, "problem": ""}]}',
    "judged": '{"record": "judged", "judgement": {"check": "a", "verdict": "pass", "message": "m", '
    '"expected": "e", "observed": "o", "limitation": null, "next_step": ""}}',
    "accepted": '{"record": "accepted", "file": "b.yaml", "excused": true, "failures": [{"check": "a", "reason": "r", "expires": "2099-12-31"}]}',
    "end": '{"record": "end", "finished": "t", "exit_code": 0, "counts": {"pass": 1}, '
    '"requests": {"get pods": 2}, "stages": {"deploy": 1.5}}',
}
"""Lines as every version of the harness has written them."""


def test_every_kind_is_drawn() -> None:
    """No kind of record is without a word of its own, or without the tests below."""
    kinds = set(get_args(Record)) - {Unknown}
    assert set(KINDS.values()) == kinds == set(DRAWN)
    assert len(KINDS) == len(kinds)


@pytest.mark.parametrize("kind", sorted(KINDS))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_record_survives_its_line(kind: str, data: st.DataObject) -> None:
    """What is written of any record reads back as that record, and is one line that names its kind."""
    record = data.draw(DRAWN[KINDS[kind]])
    line = encode(data_of(record))
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line)["record"] == kind
    assert decode(line) == record
    later = {**data_of(record), "weather": {"sun": True}}
    assert decode(encode(later)) == record  # fields of a later version are left alone


@settings(max_examples=40, deadline=None)
@given(record=st.one_of(*DRAWN.values()))
def test_one_kind_is_read_alone(record: Record) -> None:
    """Who looks for one kind gets the records of it, and nothing of the others."""
    found = decode_only(encode(data_of(record)), Done)
    assert found == (record if isinstance(record, Done) else None)


@pytest.mark.parametrize("kind", sorted(LINES))
def test_a_line_is_what_it_always_was(kind: str) -> None:
    """Scripts and other programs read these lines as JSON: keys, their order and their values stay."""
    line = LINES[kind].encode() + b"\n"
    assert encode(data_of(decode(line))) == line


def test_what_says_nothing_is_left_out() -> None:
    """A done record names only what there is to tell; an event is notable or does not say so, and an end what it cost."""
    assert data_of(End(finished="t")) == {
        "record": "end",
        "finished": "t",
        "exit_code": None,
        "counts": {},
    }
    assert data_of(Done(check="a", answers=2)) == {"record": "done", "check": "a", "answers": 2}
    assert data_of(Event(at="t", text="x")) == {"record": "event", "at": "t", "text": "x"}
    assert data_of(Event(at="t", text="x", notable=True))["notable"] is True


@pytest.mark.parametrize("kind", [Begin, End])
def test_head_and_end_lack_what_an_older_version_did_not_write(kind: type[Begin | End]) -> None:
    """Each of their fields may be missing."""
    assert decode(encode({"record": kind.KIND})) == kind()


def test_fields_that_are_missing_have_their_defaults() -> None:
    """Journals of older versions know less of an answer, and do not count answers."""
    assert decode(b'{"record": "done", "check": "a"}') == Done(check="a")
    answer = next(one for one in REAL if isinstance(one, Answer))
    data = data_of(answer)
    kept = {one.name for one in fields(Raw)} - {"context", "error", "status", "stderr"}
    older = {**data, "raw": {key: value for key, value in data["raw"].items() if key in kept}}
    read = decode(encode(older))
    assert isinstance(read, Answer)
    assert (read.raw.command, read.raw.context) == (answer.raw.command, {})


def test_a_kind_of_a_later_version_is_kept_as_it_is() -> None:
    """Nobody reads it, and whoever copies a journal loses nothing."""
    line = b'{"record": "weather", "sun": [1, {"rises": "06:12"}]}\n'
    record = decode(line)
    assert isinstance(record, Unknown)
    assert encode(data_of(record)) == line
    assert decode_only(line, Done) is None


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"", "cannot be read"),
        (b"nonsense", "cannot be read"),
        (b'{"record": "done", "che', "cannot be read"),
        (b"\xff\xfe", "cannot be read"),
        (b"[" * 100_000, "cannot be read: it is nested"),
        (b"[]", "is not a record of a run"),
        (b"{}", "is not a record of a run"),
        (b'{"record": null}', "is not a record of a run"),
    ],
)
def test_a_broken_line_is_named(line: bytes, says: str) -> None:
    """By its number, where it has one."""
    with pytest.raises(BrokenJournalError, match=f"line 7 of the journal {says}"):
        decode(line, 7)
    with pytest.raises(BrokenJournalError, match=f"a line of the journal {says}"):
        decode_only(line, Done)


def test_a_line_of_another_kind_is_not_parsed() -> None:
    """It may be long, and only its kind is read."""
    assert decode_only(b'{"record": "raw", ' + b"[" * 100_000, Done) is None


def test_half_a_surrogate_pair_has_a_line() -> None:
    """Text that has no UTF-8 form is written escaped."""
    event = Event(at="t", text="odd \ud800 text")
    assert decode(encode(data_of(event))) == event


def test_a_verdict_is_one_of_the_closed_list() -> None:
    """Another word is no verdict, and is not read as one."""
    line = LINES["judged"].encode()
    read = decode(line)
    assert isinstance(read, Judged)
    assert read.judgement.verdict is Verdict.PASS
    with pytest.raises(ExceptionGroup):
        decode(line.replace(b'"pass"', b'"fine"'))
