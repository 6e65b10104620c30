"""The recorded transcript of agnhost, replayed against the lab's programs."""

import json
from collections import Counter

import pytest

from tests.lab.programs import transcript
from tests.lab.programs.replay import Difference, prepare, replay
from tests.lab.programs.worlds import World, in_child

_NO_SHELL = "the lab runs no shell on behalf of a client"
_NO_UPLOAD = "the lab's netexec has no /upload"
DEVIATIONS = {
    58: _NO_SHELL,
    59: _NO_SHELL,
    60: _NO_SHELL,
    61: _NO_SHELL,
    62: _NO_SHELL,
    64: _NO_SHELL,
    65: _NO_SHELL,
    66: _NO_SHELL,
    67: _NO_UPLOAD,
    68: _NO_UPLOAD,
    140: "the recording machine's kernel limited ICMP errors, so a closed port looked silent there",
    206: "the addresses and paths of a Go stack trace are not reproduced",
    208: "the recording shows the machine's own hosts file, the lab a pod's",
    248: "the image's ip is not emulated",
    249: "the image's ip is not emulated",
}
"""The only rows that may differ, with the reason."""

_NOT_COMPARED = ("meta",)
_SHARE = 0.9


@pytest.fixture(scope="module")
def outcomes() -> dict[int, Difference]:
    """The difference of every row, by line; ``None`` where there is none."""

    async def scenario(world: World) -> str:
        return json.dumps(await replay(world))

    found = json.loads(in_child(scenario, prepare))
    return {int(line): difference for line, difference in found.items()}


def test_every_row_that_can_be_compared_is_replayed(outcomes: dict[int, Difference]) -> None:
    """No row is left out, but those that describe the recording or servers that the lab refuses."""
    compared = {row.line for row in transcript.rows() if row.kind not in _NOT_COMPARED}
    assert compared - transcript.rows_of_servers_not_provided() == set(outcomes)


def test_only_the_listed_rows_differ_from_the_recording(outcomes: dict[int, Difference]) -> None:
    """Exit codes, output, HTTP bytes, UDP answers and logs equal the recording in all other rows."""
    differing = {line: said for line, said in outcomes.items() if said}
    assert {line: said for line, said in differing.items() if line not in DEVIATIONS} == {}


def test_every_listed_row_does_differ(outcomes: dict[int, Difference]) -> None:
    """A deviation that is gone must leave the list."""
    assert [line for line in DEVIATIONS if not outcomes[line]] == []


def test_nine_of_ten_rows_of_each_kind_match(outcomes: dict[int, Difference]) -> None:
    """At least 90 % of the rows of every kind equal the recording."""
    kinds = Counter(row.kind for row in transcript.rows() if row.line in outcomes)
    matching = Counter(row.kind for row in transcript.rows() if outcomes.get(row.line, "") is None)
    short = {kind: (matching[kind], count) for kind, count in kinds.items()}
    assert {kind: pair for kind, pair in short.items() if pair[0] < _SHARE * pair[1]} == {}
