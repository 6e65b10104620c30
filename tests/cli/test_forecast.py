"""``nettests forecast`` and ``nettests diff --forecast``: from a finished run or a cluster, to what was observed."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from click.testing import Result

from nettests.cli import forecast_command
from nettests.forecast.facts_after import changed
from nettests.forecast.keys import read_change
from nettests.model.cluster_profile import ClusterProfile
from nettests.model.codec import data_of, encode
from nettests.model.facts import ClusterFacts
from nettests.model.journal_records import Begin
from nettests.model.words import Outcome
from nettests.report import render_json
from nettests.session.run_options import RunOptions
from tests.cli.calling import nettests
from tests.cli.test_hostile_texts import NASTY, OBEYED
from tests.compare.runs import Behaves, as_expected, but, results
from tests.facts import cluster_facts

FLOWS = ("dsr-source-address", "service-hairpin", "pod-to-pod-ip", "windows-pod-fields")
OLD = cluster_facts("win2019-l2bridge")
DSR = "kubeProxy.dsr=true"
SEEN = "dsr-source-address/windows-1/windows-1/same-node/tcp"


def forecast(*arguments: str | Path) -> Result:
    """Forecast in this process."""
    return nettests("forecast", *arguments)


def written(
    folder: Path,
    facts: ClusterFacts = OLD,
    behaves: Behaves = as_expected,
    argv: Iterable[str] = ("nettests", "run"),
) -> Path:
    """Write a run's folder as runs do, of a few flows."""
    folder.mkdir(parents=True)
    begin = Begin(run_id=folder.name, started=f"2026-11-24T09:00:00+00:00 {folder.name}")
    (folder / "journal.jsonl").write_bytes(encode(data_of(begin)))
    made = json.loads(render_json(results(facts, behaves, run_id=folder.name, flows=FLOWS)))
    made["run"]["argv"] = list(argv)
    (folder / "results.json").write_text(json.dumps(made), "utf-8")
    return folder


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return written(tmp_path / "reports" / "a")


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster with the facts of a profile."""

    def read(options: RunOptions, profile: ClusterProfile) -> ClusterFacts:
        return OLD

    monkeypatch.setattr(forecast_command, "read_facts", read)


def test_a_forecast_of_a_run_names_it_and_what_changes(run: Path) -> None:
    """First what was stated, then what lifts and appears with its source, last the answer."""
    done = forecast(run, "--to", DSR)
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert lines[0] == f"a: {DSR}"
    assert "Limitations that lift (6)" in lines
    assert any(line.strip().startswith("ends: dsr-source-ip-non-dsr: ") for line in lines)
    assert any(line.strip().startswith("source: Kubernetes documentation") for line in lines)
    assert "      because source DSR: off → on" in lines
    assert lines[-1].startswith("8 checks are expected to change: 2 × a limitation appears, 6 ×")


def test_runs_are_named_as_for_a_difference(run: Path) -> None:
    """A folder, its document, or latest in a folder of reports."""
    answers = {
        forecast(*words, "--to", DSR, "--quiet").output
        for words in (
            (run,),
            (run / "results.json",),
            ("latest", f"--report-dir={run.parent}"),
        )
    }
    assert len(answers) == 1
    missing = forecast("latest~1", f"--report-dir={run.parent}", "--to", DSR)
    assert (missing.exit_code, "holds 1 run" in missing.output) == (4, True)


def test_only_what_the_run_tests_is_forecast(run: Path) -> None:
    """Its flows, unless others are named; and classes that it enabled."""
    found = json.loads(forecast(run, "--to", DSR, "--output=json").output)
    assert {one["id"].partition("/")[0] for one in found["changes"]} <= set(FLOWS)
    named = forecast(run, "--to", DSR, "--flow=service-hairpin-source", "--output=json")
    assert [one["id"] for one in json.loads(named.output)["changes"]] == [
        "service-hairpin-source/windows-1/windows-1/same-node/tcp"
    ]


def test_classes_that_the_run_enabled_are_forecast(tmp_path: Path) -> None:
    """As its command line has them, in either spelling."""
    counts = []
    for number, argv in enumerate(([], ["--enable=costly,exposed"], ["--enable", "costly"])):
        folder = written(tmp_path / str(number), argv=["nettests", "run", *argv])
        document = folder / "results.json"
        data = json.loads(document.read_text("utf-8"))
        data["checks"][0]["flow"] = "service-65-backends"
        document.write_text(json.dumps(data))
        done = forecast(folder, "--to", "windows.build=20348.3207", "--output=json")
        counts.append(sum("service-65-" in one["id"] for one in json.loads(done.output)["changes"]))
    assert counts == [0, 2, 2]


@pytest.mark.usefixtures("cluster")
def test_a_cluster_is_read_where_no_run_is_named() -> None:
    """As ``nettests plan`` reads it, and called as its context is."""
    done = forecast("--kubeconfig", "some", "--flow=dsr-source-address", "--to", DSR)
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[0] == f"test: {DSR}"
    assert SEEN in done.output


def test_json_and_markdown_are_one_document_each(run: Path) -> None:
    """Nothing else is printed with either."""
    as_json, as_markdown = (
        forecast(run, "--to", DSR, f"--output={kind}") for kind in ("json", "markdown")
    )
    data = json.loads(as_json.output)
    assert (data["kind"], data["of"], data["to"]) == ("Forecast", "a", [DSR])
    assert as_markdown.output.startswith("## 8 checks are expected to change")


def test_what_makes_a_forecast_worth_less_is_noted(run: Path) -> None:
    """A run with other manifests and with flows of its own, whichever are resolved today."""
    document = run / "results.json"
    data = json.loads(document.read_text("utf-8"))
    data["run"]["manifests"] = [{"file": "vendor.yaml", "sha256": "0" * 64}]
    data["checks"][0]["flow"] = "vendor-flow"
    document.write_text(json.dumps(data))
    done = forecast(run, "--to", DSR)
    assert "note: run a read other limitation manifests than this forecast: " in done.output
    assert "no suite here declares are left out (--suites): vendor-flow" in done.output


def test_a_forecast_of_no_check_is_no_good_news(run: Path) -> None:
    """A flow of a class that is not enabled is not planned: nothing is claimed of it."""
    done = forecast(run, "--to", "kubernetes=1.34", "--flow=service-65-backends", "--quiet")
    assert done.output.startswith("Nothing is forecast: with the enabled classes, no check")


def test_a_difference_warns_of_a_forecast_by_other_manifests(run: Path, tmp_path: Path) -> None:
    """What changed in between is in a manifest, and neither in the cluster nor in the forecast."""
    file = tmp_path / "forecast.json"
    file.write_text(forecast(run, "--to", DSR, "--output=json").output)
    document = run / "results.json"
    data = json.loads(document.read_text("utf-8"))
    data["run"]["manifests"] = [{"file": "vendor.yaml", "sha256": "0" * 64}]
    document.write_text(json.dumps(data))
    done = nettests("diff", run, run, "--forecast", file)
    assert "warning: the forecast read other limitation manifests than the later run" in done.output


def test_quiet_says_only_the_answer(run: Path) -> None:
    """One line."""
    assert len(forecast(run, "--to", DSR, "--quiet").output.splitlines()) == 1


def test_a_cluster_profile_states_changes_and_the_command_line_goes_before_it(
    run: Path, tmp_path: Path
) -> None:
    """Its facts are those after the upgrade; what no limitation depends on is said to be left out."""
    profile = tmp_path / "after.yaml"
    profile.write_text(
        "apiVersion: nettests.dev/v1alpha1\nkind: ClusterProfile\n"
        "facts: {kubeProxy: {windows: {dsr: true}}, clusterDomain: example.test}\n"
    )
    done = forecast(run, "--to-profile", profile)
    assert done.output.splitlines()[0] == "a: kubeProxy.windows.dsr=true"
    assert (
        f"note: not read of {profile}, as no limitation depends on it: clusterDomain" in done.output
    )
    for key in ("kubeProxy.windows.dsr", "kubeProxy.dsr"):
        both = forecast(run, "--to-profile", profile, "--to", f"{key}=off", "--quiet")
        assert both.output == "No check is expected to change\n"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--to", "kuberntes=1.34"], 4, "did you mean 'kubernetes'?"),
        (["--to", "cni.driver=overlya"], 4, "did you mean 'overlay'?"),
        (["--to", "kubeProxy.dsr=maybe"], 4, "true or false is expected"),
        (["--to", DSR, "--to", "kubeProxy.dsr=off"], 2, f"{DSR}, kubeProxy.dsr=off"),
        (["--to", DSR, "--to", "kubeProxy.windows.dsr=off"], 2, "one fact more than once"),
        (["--to", DSR, "--to", "kubeProxy.windows.mode=none"], 4, "no kube-proxy runs on Windows"),
        ([], 2, "say what changes: --to KEY=VALUE"),
        (["--to", DSR, "--context=other"], 2, "leave RUN out to read a cluster"),
        (["--to", DSR, "--nodes=sample"], 2, "leave RUN out to read a cluster"),
        (["--to", DSR, "--lab"], 2, "leave RUN out to read a cluster"),
    ],
)
def test_wrong_input_says_what_is_meant(run: Path, words: list[str], code: int, said: str) -> None:
    """A slip of the pen, a value of another kind, nothing at all, two clusters at once."""
    done = forecast(run, *words)
    assert done.exit_code == code, done.output
    assert said in done.output
    assert "Traceback" not in done.output


@pytest.mark.usefixtures("cluster")
def test_what_is_wrong_is_said_before_a_cluster_is_contacted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nobody waits for an API server to learn of a slip of the pen."""
    contacted: list[str] = []
    monkeypatch.setattr(forecast_command, "profile_of", contacted.append)
    assert forecast("--to", "kuberntes=1").exit_code == 4
    assert forecast("--to", DSR, "--flow=nowhere").exit_code == 4
    assert contacted == []


def test_a_run_that_could_not_start_has_no_facts(run: Path) -> None:
    """It is wrong input, and the step is to name another run."""
    document = run / "results.json"
    data = json.loads(document.read_text("utf-8"))
    document.write_text(json.dumps({**data, "facts": None, "checks": []}))
    done = forecast(run, "--to", DSR)
    assert done.exit_code == 4
    assert "could not start" in done.output


def test_a_difference_says_what_observed(run: Path, tmp_path: Path) -> None:
    """The forecast is kept in a file; after the upgrade each change is predicted, and a fault is not."""
    file = tmp_path / "forecast.json"
    file.write_text(forecast(run, "--to", DSR, "--output=json").output)
    upgraded = changed(OLD, [read_change(DSR)])
    after = written(run.parent / "b", upgraded)
    done = nettests("diff", run, after, "--forecast", file)
    assert done.exit_code == 0, done.output
    assert (
        f"Forecast {DSR}: 8 of 8 expected changes observed; changes: 8 predicted"
        in done.output.splitlines()
    )
    assert "As forecast (8)" in done.output
    broken = but("pod-to-pod-ip", Outcome.TIMED_OUT, "linux-1/windows-1", "tcp")
    faulty = written(run.parent / "c", upgraded, broken)
    worse = nettests("diff", run, faulty, "--forecast", file, "--quiet")
    assert worse.exit_code == 1
    assert worse.output.splitlines()[0] == (
        f"Forecast {DSR}: 8 of 8 expected changes observed; changes: 8 predicted, 1 unexplained"
    )


def test_every_form_of_a_difference_has_what_observed(run: Path, tmp_path: Path) -> None:
    """JSON as a part of its own, Markdown and page as sections before the others; none without the option."""
    file, page = tmp_path / "forecast.json", tmp_path / "diff.html"
    file.write_text(forecast(run, "--to", DSR, "--output=json").output)
    option = ("--forecast", file)
    as_json = json.loads(nettests("diff", run, run, *option, "--output=json").output)
    assert as_json["forecast"]["of"] == "a"
    assert len(as_json["forecast"]["missed"]) == 8
    assert "forecast" not in json.loads(nettests("diff", run, run, "--output=json").output)
    text = nettests("diff", run, run, *option, "--output=markdown", "--html", page).output
    assert "### Forecast, but not observed (8)" in text
    assert "Forecast, but not observed" in page.read_text("utf-8")


def test_a_forecast_of_another_cluster_is_warned_of_in_every_form(
    run: Path, tmp_path: Path
) -> None:
    """Who reads the Markdown of a job or the page alone learns of it, and of the count, as well."""
    file, page = tmp_path / "forecast.json", tmp_path / "diff.html"
    made = json.loads(forecast(run, "--to", DSR, "--output=json").output)
    file.write_text(json.dumps({**made, "of": "production"}))
    option = ("--forecast", file)
    text = nettests("diff", run, run, *option, "--output=markdown", "--html", page).output
    for form in (nettests("diff", run, run, *option).output, text, page.read_text("utf-8")):
        assert "the forecast is of production" in form
        assert f"Forecast {DSR}: " in form


@pytest.mark.parametrize("kept", [0, 1, 100, 2000])
def test_a_forecast_that_is_cut_off_is_wrong_input(run: Path, tmp_path: Path, kept: int) -> None:
    """A full disk, or a shell that was interrupted: the error says how to make it again."""
    file = tmp_path / "forecast.json"
    file.write_text(forecast(run, "--to", DSR, "--output=json").output[:kept])
    done = nettests("diff", run, run, "--forecast", file)
    assert done.exit_code == 4
    assert "nettests forecast RUN --to" in done.output


def test_a_file_that_is_no_forecast_is_wrong_input(run: Path) -> None:
    """A run's own document, or none."""
    for file, said in ((run / "results.json", "holds no forecast"), (run / "x", "cannot be read")):
        done = nettests("diff", run, run, "--forecast", file)
        assert done.exit_code == 4
        assert said in done.output


@pytest.mark.parametrize("output", ["text", "json", "markdown"])
def test_a_terminal_obeys_no_text_of_a_cluster(run: Path, output: str) -> None:
    """A run of somebody else's may hold anything: it is shown by name."""
    document = run / "results.json"
    data = json.loads(document.read_text("utf-8"))
    data["run"]["run_id"] = NASTY
    for node in data["facts"]["nodes"]:
        node["kube_proxy"]["dsr"] = {"value": None, "origin": NASTY}
    document.write_text(json.dumps(data))
    done = forecast(run, "--to", "kubernetes=1.36.2", f"--output={output}")
    assert done.exit_code == 0, done.output
    assert not set(OBEYED) & set(done.output)
