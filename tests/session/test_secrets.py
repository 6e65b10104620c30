"""No document of a run holds a secret, wherever a cluster or a profile has worded one."""

import json
from pathlib import Path
from typing import Any

from nettests.model.check_id import parent_of
from nettests.model.codec import from_data, record_of
from nettests.model.observation import Raw
from nettests.plugin.documents import write_documents
from nettests.redaction import REDACTED, Redactor, register
from nettests.session.journal import Journal
from tests.report.opened import unpacked

SAMPLE = Path(__file__).parents[2] / "reports/sample/journal.jsonl"
CHECKS = 25
SECRET = "hunter2-planted"
HELD = "words-of-a-kubeconfig"
"""Known to the harness, and of no shape."""
NESTED = json.dumps({"readings": {"x": json.dumps([{"name": "DB_PASSWORD", "value": SECRET}])}})
PHRASES = (
    f"password={SECRET}",
    f'failed: {{"token": "{SECRET}"}}',
    f"http://user:{SECRET}@proxy.test:3128/",
    f"it said {HELD} there",
)


def planted() -> list[dict[str, Any]]:
    """Return records of some checks of a real run, with secrets in all that a cluster words."""
    found: list[dict[str, Any]] = []
    checks: set[str] = set()
    for line in SAMPLE.read_bytes().splitlines():
        record = json.loads(line)
        match record["record"]:
            case "planned" if len(checks) < CHECKS:
                checks.add(record["check"]["id"])
            case "raw" if _of(record) in checks:
                raw, said = record["raw"], "\n".join(PHRASES)
                raw |= {"stdout": f"{raw['stdout']}\n{said}", "stderr": said, "error": PHRASES[0]}
                raw |= {"command": [*raw["command"], "--token", SECRET, *PHRASES]}
                raw["context"]["note"] = PHRASES[3]
            case "done" if _of(record) in checks:
                record["distrust"] = PHRASES[1]
            case "judged" if record["judgement"]["check"] in checks:
                record["judgement"] |= {"message": PHRASES[2], "next_step": PHRASES[0]}
            case "run":
                record["argv"] += ["--token", SECRET, PHRASES[3]]
            case "facts":
                record["facts"]["nodes"][0]["os_image"] = PHRASES[0]
            case "event":
                record["text"] = "; ".join(PHRASES)
            case "end":
                pass
            case _:
                continue
        found.append(record)
    first = next(record for record in found if record["record"] == "raw")
    first["raw"]["stdout"] = NESTED
    return [
        one for one in found if one["record"] not in {"raw", "done", "judged"} or _of(one) in checks
    ]


def _of(record: dict[str, Any]) -> str:
    about = record.get("raw") or record.get("judgement") or record
    return parent_of(str(about["check"]))


def test_no_document_holds_what_was_planted(tmp_path: Path) -> None:
    """Answers, commands, reasons, events, facts, verdicts: 0 of N are in the journal or a page."""
    records = planted()
    number = sum(json.dumps(one).count(word) for one in records for word in (SECRET, HELD))
    assert number > 10 * CHECKS
    register(HELD)
    with Journal(tmp_path / "journal.jsonl") as journal:
        for record in records:
            if record["record"] == "raw":
                journal.raw(from_data(record["raw"], Raw))
            else:
                journal.write(record_of(record))
    results = write_documents(tmp_path)
    assert len(results.checks) >= CHECKS
    written = {path.name: unpacked(path.read_text()) for path in tmp_path.iterdir()}
    assert written["report.html"].count(REDACTED) > CHECKS
    assert {"journal.jsonl", "results.json", "report.html", "junit.xml", "summary.md"} <= set(
        written
    )
    found = {name for name, text in written.items() if SECRET in text or HELD in text}
    assert found == set(), f"{len(found)} documents, of {number} planted"
    assert written["journal.jsonl"].count(REDACTED) > CHECKS


def test_names_that_records_refer_to_stay(tmp_path: Path) -> None:
    """A password that is also part of a check's id does not tear answers from their check."""
    raw = Raw(
        check="flow/windows-1/api",
        purpose="check",
        attempt=1,
        tool="curl",
        client_os="windows",
        probe="node-windows-1",
        channel="exec",
        command=("curl",),
        started=0,
        elapsed=0,
        stderr="password windows was refused",
    )
    with Journal(tmp_path / "journal.jsonl", Redactor(("windows",))) as journal:
        told = journal.raw(raw)
    assert (told.check, told.client_os, told.probe) == (raw.check, raw.client_os, raw.probe)
    assert told.stderr == f"password {REDACTED} was refused"
