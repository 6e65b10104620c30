"""``nettests conformance``: claims held against the recorded sample run, published, verified, and caught lying."""

import json
import re
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from nettests.cli import main
from nettests.conformance.report_page import BADGE, MARKDOWN, PAGE, YAML
from nettests.model.check_id import parent_of
from nettests.model.yaml_text import plain_yaml
from tests.conformance.claimed import ECHO, PODS, SERVICES, SOURCES, text_of
from tests.conformance.test_vendor_files import MANIFEST, SUITE

SAMPLE = Path(__file__).parents[2] / "reports" / "sample"
Record = dict[str, Any]


def called(*arguments: str | Path) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(main, ["conformance", *map(str, arguments)])


def claims(folder: Path, change: Callable[[Record], object] = lambda data: None) -> Path:
    """Write a profile."""
    file = folder / "vendor.yaml"
    file.write_text(text_of(change), "utf-8")
    return file


def made(profile: Path, run: Path, folder: Path) -> Result:
    """Make a report."""
    return called("--vendor-profile", profile, "--run", run, "--to", folder)


@cache
def lines() -> tuple[str, ...]:
    """Return the sample's journal, of the checks that these tests look at: it is read for each of them."""
    names = {PODS, SERVICES, SOURCES, ECHO, "service-64-backends"}
    every = (SAMPLE / "journal.jsonl").read_text("utf-8").splitlines()
    # sample: '"check": "pod-to-pod-ip/linux-1/…"', '"id": "icmp-egress/…"'
    named = re.compile(r'"(?:check|id)": "([a-z0-9-]+)/')
    found = ((line, named.search(line)) for line in every)
    return tuple(line for line, of in found if of is None or of[1] in names)


def changed(
    folder: Path, change: Callable[[Record], Record | None] = lambda record: record
) -> Path:
    """Return a run whose journal is the sample's, with its records changed or taken out."""
    folder.mkdir(parents=True)
    found = (change(json.loads(line)) for line in lines())
    text = "".join(f"{json.dumps(one)}\n" for one in found if one is not None)
    (folder / "journal.jsonl").write_text(text, "utf-8")
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the recorded run, which no test changes."""
    return changed(tmp_path_factory.mktemp("runs") / "one")


@pytest.fixture(scope="module")
def published(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report on that run, which no test changes."""
    folder = tmp_path_factory.mktemp("published")
    assert made(claims(folder), run, folder / "report").exit_code == 0
    return folder / "report"


def test_a_report_is_made_and_verified(published: Path, run: Path) -> None:
    """Four documents, and the command that recomputes them from the journal."""
    assert {file.name for file in published.iterdir()} == {YAML, PAGE, MARKDOWN, BADGE}
    done = called("verify", published / YAML, run)
    assert done.exit_code == 0, done.output
    assert done.output == "verified: Conformant: all 3 claimed features succeeded\n"


def test_what_is_told_leads_to_the_report(tmp_path: Path, run: Path) -> None:
    """Who, where, each feature, what is not claimed, and the answer last."""
    done = made(claims(tmp_path), run, tmp_path / "r")
    lines = done.output.splitlines()
    assert lines[0] == "Acme CNI 2.4.1 of Acme Networks"
    assert "  ✓ success Pod network: 12 pass" in lines
    assert lines[-2:] == [
        "Conformant: all 3 claimed features succeeded",
        f"report: {tmp_path / 'r' / PAGE}",
    ]


def test_a_flow_that_was_skipped_is_partial(tmp_path: Path, run: Path) -> None:
    """Exit code 6, and the reason is named."""
    file = claims(tmp_path, lambda data: data["features"][0]["flows"].append("service-64-backends"))
    done = made(file, run, tmp_path / "r")
    assert done.exit_code == 6
    assert "skipped: 4 checks of service-64-backends: checks of class costly" in done.output


def test_a_run_that_judged_nothing_of_it_ends_with_7(tmp_path: Path, run: Path) -> None:
    """Nothing is claimed by silence."""
    file = claims(
        tmp_path,
        lambda data: data.update(
            features=[{"name": "Many backends", "level": "core", "flows": ["service-64-backends"]}]
        ),
    )
    assert made(file, run, tmp_path / "r").exit_code == 7


def test_a_claim_that_does_not_hold_is_a_failure(tmp_path: Path, run: Path) -> None:
    """An own entry that says otherwise makes the shipped flow fail: the answers do not show it."""
    (tmp_path / "limitations.yaml").write_text(MANIFEST, "utf-8")
    file = claims(tmp_path, lambda data: data.update(limitations=["limitations.yaml"]))
    done = made(file, run, tmp_path / "r")
    assert done.exit_code == 1, done.output
    assert "lifted: pod-to-pod-ip/windows-1/" in done.output
    assert "Not conformant: 1 of 3 claimed features failed" in done.output
    digests = plain_yaml((tmp_path / "r" / YAML).read_text())["digests"]
    assert [one["file"] for one in digests["manifests"] if one.get("own")] == ["limitations.yaml"]


def test_an_own_suite_that_the_run_did_not_read_is_not_planned(tmp_path: Path, run: Path) -> None:
    """A flow of one's own that was never run shows nothing."""
    (tmp_path / "test_acme.py").write_text(SUITE, "utf-8")

    def own(data: Record) -> None:
        data["suites"] = ["test_acme.py"]
        data["features"][0]["flows"].append("acme-own")

    done = made(claims(tmp_path, own), run, tmp_path / "r")
    assert done.exit_code == 6
    assert "not planned: 4 checks of acme-own" in done.output
    refused = called("verify", tmp_path / "r" / YAML, run)
    assert refused.exit_code == 4
    assert "--vendor-profile FILE" in refused.output
    again = called(
        "verify", tmp_path / "r" / YAML, run, "--vendor-profile", tmp_path / "vendor.yaml"
    )
    assert again.exit_code == 0, again.output


@pytest.mark.parametrize(
    ("lie", "place"),
    [
        (("result: success", "result: partial"), "result: stated 'partial', recomputed 'success'"),
        (("passed: 12", "passed: 13"), "Pod network.statistics.passed: stated 13, recomputed 12"),
        (("version: 2.4.1", "version: 2.5.0"), "implementation.version: stated '2.5.0'"),
        (("complete: true", "complete: false"), "run.complete: stated False, recomputed True"),
        (("reason: Out", "reason: out"), "unsupportedFeatures.Echo requests.reason"),
        (("deviates", "works"), "observed: stated 'works', recomputed 'deviates'"),
        (("sha256: ", "sha256: 0"), "digests.journal.sha256"),
    ],
)
def test_a_report_that_lies_is_caught(
    published: Path, tmp_path: Path, lie: tuple[str, str], place: str, run: Path
) -> None:
    """Exit code 1, and the place with both sides."""
    old, new = lie
    lying = shutil.copytree(published, tmp_path / "lying") / YAML
    text = lying.read_text()
    assert old in text
    lying.write_text(text.replace(old, new, 1) if old != "sha256: " else text.replace(old, new))
    done = called("verify", lying, run)
    assert done.exit_code == 1
    assert place in done.output


def test_another_profile_than_the_reports_own_is_caught(
    published: Path, tmp_path: Path, run: Path
) -> None:
    """A claim that was taken out afterwards, in the profile that the report carries or in the one that is named."""
    lying = shutil.copytree(published, tmp_path / "lying") / YAML
    lying.write_text(lying.read_text().replace("  - name: Services", "  - name: Service"))
    assert called("verify", lying, run).exit_code == 1
    other = claims(tmp_path, lambda data: data["features"].pop(1))
    done = called("verify", published / YAML, run, "--vendor-profile", other)
    assert done.exit_code == 1
    assert "core.features.Services: stated an entry" in done.output


@pytest.mark.parametrize("name", [PAGE, MARKDOWN, BADGE])
def test_the_documents_beside_a_report_are_caught_too(
    published: Path, tmp_path: Path, name: str, run: Path
) -> None:
    """A badge that says success beside a report that does not."""
    folder = shutil.copytree(published, tmp_path / "lying")
    (folder / name).write_text((folder / name).read_text().replace("2.4.1", "2.5.0"))
    done = called("verify", folder / YAML, run)
    assert done.exit_code == 1
    assert f"differs: {name}: stated another text" in done.output
    (folder / name).unlink()
    assert called("verify", folder / YAML, run).exit_code == 0


def answered(record: Record) -> Record:
    """Turn every answer of one check into a silence."""
    raw = record.get("raw", record)
    if parent_of(str(raw.get("check"))) == f"{PODS}/windows-1/linux-1/other-node/tcp":
        raw.update(stdout="", stderr="TIMEOUT", exit_code=1)
    return record


def test_a_journal_whose_answers_were_changed_is_caught(published: Path, tmp_path: Path) -> None:
    """Its digest, and what the answers give now."""
    run = changed(tmp_path / "run", answered)
    done = called("verify", published / YAML, run)
    assert done.exit_code == 1
    assert "digests.journal.sha256" in done.output
    assert "core.features.Pod network.statistics.passed: stated 12, recomputed 11" in done.output


def test_verdicts_of_a_journal_are_not_believed(tmp_path: Path) -> None:
    """A journal that calls everything a pass gives the same report: answers are judged anew."""

    def passed(record: Record) -> Record:
        for told in (record.get("judgement"),):
            if told:
                told["verdict"] = "pass"
        return record

    run = changed(tmp_path / "run", passed)
    assert made(claims(tmp_path), run, tmp_path / "r").exit_code == 0
    found = plain_yaml((tmp_path / "r" / YAML).read_text())
    assert found["extended"]["statistics"]["limited"] == 6
    assert found["run"]["judgedOtherwise"] > 0


def test_a_check_that_was_taken_out_of_a_journal_is_missed(tmp_path: Path) -> None:
    """The plan is rebuilt from the facts."""
    gone = f"{SOURCES}/windows-1/linux-1/other-node/tcp"
    run = changed(tmp_path / "run", lambda record: None if gone in json.dumps(record) else record)
    done = made(claims(tmp_path), run, tmp_path / "r")
    assert done.exit_code == 6
    assert f"not planned: 1 check of {SOURCES}" in done.output


def test_a_claim_that_was_lowered_in_a_journal_is_noticed(tmp_path: Path) -> None:
    """What the run is said to have claimed is compared with the plan."""

    def lowered(record: Record) -> Record:
        if record["record"] == "planned" and record["check"]["flow"] == PODS:
            record["check"]["claim"]["outcome"] = "refused"
        return record

    run = changed(tmp_path / "run", lowered)
    done = made(claims(tmp_path), run, tmp_path / "r")
    assert done.exit_code == 1
    feature = plain_yaml((tmp_path / "r" / YAML).read_text())["core"]["features"][0]
    (gap,) = feature["notShown"]
    assert (gap["why"], len(gap["checks"])) == ("planned-otherwise", 12)


def test_a_run_that_broke_off_is_partial(tmp_path: Path) -> None:
    """Also where all that is claimed was judged before."""
    run = changed(tmp_path / "run", lambda record: None if record["record"] == "end" else record)
    done = made(claims(tmp_path), run, tmp_path / "r")
    assert done.exit_code == 6
    assert "warning: the run broke off before its end" in done.output


def test_programs_read_one_value(published: Path, tmp_path: Path, run: Path) -> None:
    """The document, and the differences."""
    done = called(
        *("--vendor-profile", claims(tmp_path), "--run", run, "--to", tmp_path / "r", "--json")
    )
    assert json.loads(done.output) == plain_yaml((tmp_path / "r" / YAML).read_text())
    told = json.loads(called("verify", published / YAML, run, "--json").output)
    assert told == {"verified": True, "differences": []}


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        ([], 2, "say what is claimed: --vendor-profile FILE"),
        (
            ["--vendor-profile", "x.yaml", "verify", "a", "b"],
            2,
            "put --vendor-profile after verify",
        ),
        (["--vendor-profile", "nosuch.yaml", "--run", str(SAMPLE)], 4, "cannot be read"),
        (["--vendor-profile", "x.yaml", "--run", "nosuch"], 4, "there is no run nosuch"),
        (["--vendor-profile", "x.yaml", "--report-dir", "nosuch"], 4, "holds no run"),
        (["verify", "nosuch.yaml", str(SAMPLE)], 4, "cannot be read"),
        (["verify", str(SAMPLE / "summary.md"), str(SAMPLE)], 4, ""),
    ],
)
def test_wrong_input_is_said_in_words(arguments: list[str], code: int, told: str) -> None:
    """What is missing, and what to name."""
    done = called(*arguments)
    assert done.exit_code == code, done.output
    assert told in done.output
    assert "Traceback" not in done.output


@pytest.mark.parametrize("text", ["", "no journal\n", '{"record": "facts", "facts": 5}\n'])
def test_a_journal_that_cannot_be_judged_is_wrong_input_of_verify(
    tmp_path: Path, text: str
) -> None:
    """Neither the same nor another report, and not the exit code of a run; the folder is named."""
    (tmp_path / "journal.jsonl").write_text(text)
    done = called("verify", SAMPLE / "conformance" / YAML, tmp_path)
    assert (done.exit_code, done.stdout) == (4, "")
    assert str(tmp_path) in done.stderr


def test_a_report_goes_beside_its_run_unless_it_is_told_where(tmp_path: Path, run: Path) -> None:
    """The latest run is taken, from the folder of reports."""
    changed(tmp_path / "reports" / "one")
    done = called("--vendor-profile", claims(tmp_path), "--report-dir", tmp_path / "reports")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "reports" / "one" / "conformance" / YAML).is_file()
