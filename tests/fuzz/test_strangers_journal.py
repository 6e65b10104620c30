"""A journal that somebody else wrote: whatever one of its texts is, terminal and documents show it and obey nothing."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree, html

from nettests.cli import main
from nettests.model.run_folder import JOURNAL
from tests.fuzz.budget import fuzz
from tests.report.opened import unpacked

SAMPLE = Path(__file__).parents[2] / "reports/sample/journal.jsonl"
CHECKS = re.compile(
    r'"(pod-to-pod-ip/windows-1/linux-1/other-node/tcp|pod-to-service-clusterip/linux-1/linux-1/same-node/udp)[@"]'
)
OF_CHECKS = frozenset({"planned", "raw", "done", "judged", "expected", "skip", "convergence"})
OBEYED = frozenset("\x00\x07\x1b\x9b\u202e\u2028\ufeff")
NASTY = (
    '<script>alert(1)</script></script></style> | ]]> \\" & {{ 7*7 }} <b onmouseover=alert(1)> '
    "\x00\x07\x1b]0;x\x07\x9b2J\u202etxt\u2028\ufeff\n## forged [x](javascript:1)"
)
Place = tuple[str | None, ...]


def journal() -> list[dict[str, Any]]:
    """Return the records of two checks of the sample, and all that are of no check."""
    lines = SAMPLE.read_text().splitlines()
    return [
        record
        for record, line in ((json.loads(line), line) for line in lines)
        if record["record"] not in OF_CHECKS or CHECKS.search(line)
    ]


RECORDS = journal()


def places(value: Any, place: Place = ()) -> Iterator[Place]:
    """Yield where texts stand; ``None`` is any item of a list."""
    if isinstance(value, str):
        yield place
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, (*place, key))
    elif isinstance(value, list):
        for item in value:
            yield from places(item, (*place, None))


def planted(value: Any, place: Place) -> Any:
    """Return the value with the attack at that place, as far as it has it."""
    if not place:
        return NASTY if isinstance(value, str) else value
    first, *rest = place
    if first is None and isinstance(value, list):
        return [planted(item, tuple(rest)) for item in value]
    if isinstance(value, dict) and first in value:
        return {**value, first: planted(value[first], tuple(rest))}
    return value


def obeyed(name: str, text: str) -> Iterator[str]:
    """Yield what a document would do."""
    if OBEYED & set(unpacked(text) if name.endswith(".html") else text):
        yield f"{name}: hidden characters"
    if name.endswith(".html"):
        page = html.document_fromstring(text)
        (script,) = page.xpath("//script[not(@type='application/octet-stream')]")
        if "alert(1)" in script.text or page.xpath("//*[@onmouseover]"):
            yield f"{name}: a script"
        if '"href":"javascript' in unpacked(text) or page.xpath("//a[starts-with(@href, 'java')]"):
            yield f"{name}: a link"
    if name.endswith(".xml"):
        etree.fromstring(text.encode())
    if name.endswith(".md"):
        literal = re.sub(r"`[^`\n]*`", "", text).replace(r"\<", "").replace(r"\[", "")
        if re.search(r"(?m)^## forged|<script|\[x\]\(javascript", literal):
            yield f"{name}: markup"


PLACES = sorted(
    {(record["record"], place) for record in RECORDS for place in places(record)}, key=str
)


@fuzz
@given(st.sampled_from(PLACES))
def test_no_text_of_a_journal_is_obeyed(where: tuple[str, Place]) -> None:
    """It is refused with a plain error, or shown as a text wherever it is shown."""
    kind, place = where
    with TemporaryDirectory() as run:
        forged = (planted(one, place) if one["record"] == kind else one for one in RECORDS)
        (Path(run) / JOURNAL).write_text("".join(f"{json.dumps(one)}\n" for one in forged))
        done = CliRunner().invoke(main, ["rejudge", run])
        assert isinstance(done.exception, SystemExit | None), done.exception
        documents = {file.name: file.read_text() for file in Path(run, "rejudged").glob("*")}
    assert not OBEYED & set(done.output)
    assert [what for name, text in documents.items() for what in obeyed(name, text)] == []
