"""``nettests run`` and ``nettests diagnose``: which words reach pytest, and what is printed of what was collected."""

import gc
import shlex
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from nettests.cli import main
from nettests.diagnose import Collected
from nettests.diagnose.collect import Written
from nettests.diagnose.subjects import DNS, NODE, Subject
from nettests.report.html_report import typed
from nettests.resources import suites_path
from nettests.session.diagnose_now import Answered, Demand
from tests.expect.entries import text


def passed_on(monkeypatch: pytest.MonkeyPatch, *arguments: str, ends: int = 0) -> list[str]:
    """Return the words that pytest is called with."""
    called: list[list[str]] = []

    def run(words: list[str]) -> int:
        called.append(words)
        return ends

    monkeypatch.setattr(import_module("nettests.cli.run_command").pytest, "main", run)
    done = CliRunner().invoke(main, ["run", *arguments])
    assert done.exit_code == ends, done.output
    (words,) = called
    return words


def test_without_options_the_shipped_suites_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """With our reporter instead of pytest's, reports in their usual folder, and nothing of a cluster."""
    words = passed_on(monkeypatch)
    assert words[-1] == str(suites_path())
    assert "--nettests-output=own" in words
    assert "--report-dir=reports" in words
    assert not any(
        word.startswith(("--lab", "--kubeconfig", "--keep", "-n", "--metrics", "--webhook"))
        for word in words[:-1]
    )


def test_a_run_collects_garbage_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it keeps until its end is not visited again and again."""
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    try:
        passed_on(monkeypatch)
        assert gc.get_threshold() > (700, 10, 10)
    finally:
        gc.set_threshold(*before)


@pytest.mark.parametrize(
    "given",
    [
        ["--lab=win2019-l2bridge", "--flow=dns-*", "--flow=!dns-pod-name", "--nodes=win-1,win-3"],
        ["--kubeconfig=~/k c.yaml", "--check=pod-to-*/windows-1/*", "--exclude-node=win-2", "-n2"],
        ["--trace", "--enable=costly", "--keep", "--", "-k", "not dns", "-x", "my-suites/"],
    ],
)
def test_the_command_on_the_page_runs_the_same_again(
    monkeypatch: pytest.MonkeyPatch, given: list[str]
) -> None:
    """Typed as it is printed, in a shell, the same words reach pytest."""
    words = passed_on(monkeypatch, *given)
    printed = shlex.split(typed(words))
    assert printed[:2] == ["nettests", "run"]
    assert passed_on(monkeypatch, *printed[2:]) == words


def test_other_commands_on_the_page_are_as_they_were_typed() -> None:
    """Those of a watch, of a sample, and of pytest itself."""
    assert typed(["watch", "--every", "1m"]) == "nettests watch --every 1m"
    assert typed(["nettests", "run", "--lab"]) == "nettests run --lab"
    assert typed(["suites", "--lab"]) == "pytest suites --lab"


def test_an_empty_webhook_reaches_the_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    """It switches off the one that the environment names."""
    assert "--webhook=" in passed_on(monkeypatch, "--webhook=")


def test_each_option_reaches_the_plugin(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Word for word; what is repeated, repeatedly, and classes in one order."""
    manifest = tmp_path / "m.yaml"
    manifest.write_text(text("cni", one="expected: {outcome: timed_out}"))
    given = [
        *("--kubeconfig=k", "--context=c", "--cluster-profile=p", "--namespace=n"),
        *("--image=i:1", "--registry=r", "--pre-pull", f"--limitations={manifest}"),
        *("--flow=icmp-egress", "--flow=pod-to-pod-ip", "--report-dir=out", "--keep"),
        *("--keep-on-failure", "--fail-on=known-bugs", "--nodes=pool=win"),
        *("--fail-on=new", "--baseline=b.yaml"),
        *("--metrics=m.prom", "--webhook=https://hooks.slack.test/x"),
    ]
    words = passed_on(monkeypatch, *given, "--enable=exposed,costly", "-n", "3", "--quiet")
    assert set(given) <= set(words)
    assert [word for word in words if word.startswith("--enable")] == [
        "--enable=costly",
        "--enable=exposed",
    ]
    assert "-n3" in words
    assert "--nettests-output=quiet" in words


def test_a_lab_is_contacted_for_by_its_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without one the lab chooses: the word is there, and empty."""
    assert "--lab=linux" in passed_on(monkeypatch, "--lab=linux")
    assert "--lab=" in passed_on(monkeypatch, "--lab")


def test_what_follows_two_dashes_is_pytests(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Behind the suites, own ones included, as it was written; its exit code is the command's."""
    own = tmp_path / "test_own.py"
    own.write_text("")
    words = passed_on(monkeypatch, f"--suite={own}", "--", "-k", "tcp and not udp", "-x", ends=5)
    assert words[-5:] == [str(suites_path()), str(own), "-k", "tcp and not udp", "-x"]


def diagnose(monkeypatch: pytest.MonkeyPatch, answered: Answered, *arguments: str) -> Result:
    """Call ``diagnose`` for what was collected; keep what was demanded."""
    module = import_module("nettests.cli.trace_command")

    def collect(options: object, flows: object, demand: Demand, directory: Path) -> Answered:
        demanded.append((demand, directory))
        return answered

    demanded.clear()
    monkeypatch.setattr(module, "collect_now", collect)
    return CliRunner().invoke(main, ["diagnose", *arguments])


demanded: list[tuple[Demand, Path]] = []


def test_what_was_requested_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks, nodes, a run that was kept, and the nodes' own tools."""
    words = ("--check=a", "--check=b", "--node=n", "--run=r", "--hosts", "--to=there")
    done = diagnose(monkeypatch, Answered(), *words)
    assert demanded == [
        (Demand(checks=("a", "b"), nodes=("n",), run="r", hosts=True), Path("there"))
    ]
    assert done.output == "diagnostics: there/index.md\n"
    diagnose(monkeypatch, Answered())
    assert demanded == [(Demand(), Path("diagnostics"))]


def test_what_was_collected_and_what_was_not_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each subject with its files, what is missing and why, what was left out for the bound, and remarks."""
    node = Subject(NODE, "win-1")
    answered = Answered(
        collected=(
            Collected(
                subject=node,
                checks=(),
                items=(
                    Written(file="routes.txt", title="routes"),
                    Written(file="hns.json", title="HNS networks"),
                    Written(file="", title="events", problem="status 403"),
                    Written(file="", title="Leases", problem="status 403"),
                ),
            ),
            Collected(subject=Subject(NODE, "win-2"), checks=(), items=()),
        ),
        left_out=(Subject(DNS, "kube-dns"),),
        remarks=["left behind: a Pod"],
    )
    lines = diagnose(monkeypatch, answered).output.splitlines()
    assert lines == [
        f"{node}: 2 files in {node.folder}/",
        "  routes.txt, hns.json",
        "  not available: events, Leases: status 403",
        f"{Subject(NODE, 'win-2')}: 0 files in {Subject(NODE, 'win-2').folder}/",
        f"{Subject(DNS, 'kube-dns')}: left out (diagnostics.subjects of the cluster profile)",
        "left behind: a Pod",
        "diagnostics: diagnostics/index.md",
    ]
