"""``nettests rejudge``: verdicts from a journal, by other manifests, without a cluster."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from nettests.cli import main
from tests.cli.test_commands import run
from tests.cluster.api import Reply, serving

MANIFEST = """
apiVersion: nettests.dev/v1alpha1
kind: LimitationManifest
layer: cni
limitations:
  - id: one-way-street
    summary: Windows pods do not reach Linux pods.
    when: {source: {os: windows}, target: {os: linux}}
    flows: [pod-to-pod-ip]
    facts: [flow-pod-pod-ip-cross-node]
    expected: {outcome: timed_out}
    mechanism: A test.
    category: by-design
    sources: [{document: A guide, section: "7"}]
"""
CHECK = "pod-to-pod-ip/windows-1/linux-1/other-node/tcp"


def rejudge(*arguments: str | Path) -> Result:
    """Judge again in this process."""
    return CliRunner().invoke(main, ["rejudge", *map(str, arguments)])


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """The folder of a run in which everything was as documented."""
    done = run(tmp_path, "--flow=pod-to-pod-ip", "--flow=flannel-vxlan-configuration")
    assert done.returncode == 0, done.stdout + done.stderr
    return (tmp_path / "reports" / "latest").resolve()


def results(folder: Path) -> dict[str, object]:
    """The verdicts in a folder's documents, by check."""
    data = json.loads((folder / "results.json").read_text())
    return {check["id"]: check["verdict"] for check in data["checks"]}


def test_the_same_manifests_give_the_same_verdicts(finished: Path) -> None:
    """Nothing changes, and the documents hold every check and skip again."""
    journal = (finished / "journal.jsonl").read_bytes()
    shown = rejudge(finished)
    assert shown.exit_code == 0, shown.output
    assert "0 of " in shown.output
    assert results(finished / "rejudged") == results(finished)
    assert "skipped" in results(finished).values()
    assert (finished / "journal.jsonl").read_bytes() == journal
    for name in ("report.html", "junit.xml", "summary.md"):
        assert (finished / "rejudged" / name).is_file()


def test_the_run_took_as_long_as_it_took(finished: Path) -> None:
    """When it was judged again is neither its end nor part of its duration."""
    assert rejudge(finished).exit_code == 0
    before, after = (
        json.loads((folder / "results.json").read_text())["run"]
        for folder in (finished, finished / "rejudged")
    )
    assert (after["finished"], after["seconds"]) == (before["finished"], before["seconds"])


def test_another_manifest_changes_exactly_its_checks(finished: Path, tmp_path: Path) -> None:
    """What a new entry expects and the run did not show is lifted, told, and ends with 1."""
    file = tmp_path / "mine.yaml"
    file.write_text(MANIFEST)
    shown = rejudge(finished, "--limitations", file, "--report-dir", tmp_path / "again")
    assert shown.exit_code == 1, shown.output
    before, after = results(finished), results(tmp_path / "again")
    changed = {check for check in before if before[check] != after[check]}
    assert changed == {CHECK, CHECK.replace("tcp", "udp")}
    assert shown.output.count("pass → lifted") == 2
    assert not (finished / "rejudged").exists()
    data = json.loads((tmp_path / "again" / "results.json").read_text())
    check = next(check for check in data["checks"] if check["id"] == CHECK)
    assert check["limitation"]["id"] == "one-way-street"
    assert data["run"]["exit_code"] == 1


def test_it_can_be_repeated(finished: Path) -> None:
    """Judging twice writes the documents anew instead of adding to them."""
    assert rejudge(finished).exit_code == 0
    first = results(finished / "rejudged")
    assert rejudge(finished).exit_code == 0
    assert results(finished / "rejudged") == first


def test_a_run_that_broke_off_stays_incomplete(finished: Path) -> None:
    """Observed checks are judged, the others stay unknown, and no end is invented."""
    journal = finished / "journal.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    kept = [
        line
        for line in lines
        if (record := json.loads(line))["record"] not in {"judged", "end"}
        and not (record["record"] in {"raw", "done"} and CHECK in line)
    ]
    journal.write_text("".join(kept))
    shown = rejudge(finished)
    assert shown.exit_code == 6, shown.output
    after = results(finished / "rejudged")
    assert after.pop(CHECK) == "unknown"
    assert set(after.values()) == {"pass", "skipped"}
    assert "not judged → pass" in shown.output
    data = json.loads((finished / "rejudged" / "results.json").read_text())
    assert data["run"]["complete"] is False


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    """No journal, no verdicts: a sentence and an exit code that is not 0."""
    shown = rejudge(tmp_path)
    assert shown.exit_code == 7
    assert "cannot be read as a journal" in shown.output


def test_metrics_are_those_of_the_new_verdicts(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file holds what today's manifests make of the run; nothing is posted, whatever the environment names."""
    file, metrics = tmp_path / "mine.yaml", tmp_path / "nettests.prom"
    file.write_text(MANIFEST)
    with serving(lambda _: Reply()) as server:
        monkeypatch.setenv("NETTESTS_WEBHOOK", server.url)
        shown = rejudge(finished, "--limitations", file, "--metrics", metrics)
    assert shown.exit_code == 1, shown.output
    assert shown.output.endswith(f"metrics: {metrics}\n")
    assert server.requests == []
    told = [one for one in metrics.read_text().splitlines() if one.startswith("nettests_check_verdict{")]  # fmt: skip
    assert len(told) == 2
    assert all('verdict="lifted"' in one for one in told)


def test_a_place_for_metrics_that_is_none_is_refused_first(finished: Path, tmp_path: Path) -> None:
    """Nothing is judged where the result could not be written."""
    shown = rejudge(finished, "--metrics", tmp_path / "none" / "nettests.prom")
    assert shown.exit_code == 4
    assert "no metrics can be written to" in shown.output
    assert not (finished / "rejudged").exists()
