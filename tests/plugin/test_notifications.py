"""Whole runs that tell of themselves: a file of metrics, a post to a webhook, and no word of its address anywhere."""

import os
from pathlib import Path

import pytest

from nettests.plugin.notifications import Notifications, Webhook
from nettests.plugin.option_table import WEBHOOK_VARIABLE
from nettests.report import Results, build_results
from tests.cluster.api import Reply, serving
from tests.plugin.runner import Runner
from tests.plugin.standin import HELD
from tests.report.scenario import records

pytest_plugins = "pytester"

FLOW = "pod-to-pod-ip"
BROKEN = "pod-to-pod-ip/windows-1/linux-1/other-node/tcp"
PATH = "/services/T0AB12CD3/B0EF45GH6/nobodysownsecretword24"
SECRET = "nobodysownsecretword24"


@pytest.fixture(scope="module")
def results() -> Results:
    """A run in which everything is as documented."""
    return build_results(records())


def test_a_run_is_told_once_it_is_over(run: Runner, tmp_path: Path) -> None:
    """Metrics and summary hold the verdicts and the exit code, with workers as without; the place of the report is told."""
    metrics = tmp_path / "nettests.prom"
    for more in ([], ["-n2"]):
        with serving(lambda _: Reply()) as server:
            words = [f"--metrics={metrics}", "--nettests-output=own", *more]
            url = {WEBHOOK_VARIABLE: f"{server.url}{PATH}"}
            done = run(f"--flow={FLOW}", *words, answers={BROKEN: "timed out"}, environment=url)
        assert done.code == 1
        (request,) = server.requests
        assert request.path == PATH
        assert str(done.directory.resolve() / "report.html") in request.body["text"]
        assert (
            "Connections to a Pod (windows → linux) over TCP get no answer" in request.body["text"]
        )
        assert HELD not in str(request.body)
        assert f'check="{BROKEN}"' in metrics.read_text()
        assert 'nettests_run_exit_code{context="stated"} 1.0' in metrics.read_text()
        assert done.out.index("report: ") < done.out.index(f"metrics: {metrics}")
        assert "webhook: the summary was sent" in done.out
        metrics.unlink()


def test_nothing_is_told_unless_somebody_says_so(run: Runner) -> None:
    """No file beside the usual ones, and not a word about a webhook."""
    done = run(f"--flow={FLOW}", "--nettests-output=own")
    assert "webhook" not in done.out
    assert "metrics" not in done.out
    assert not list(run.pytester.path.rglob("*.prom"))


@pytest.mark.parametrize("code", [0, 1])
def test_a_webhook_that_fails_changes_nothing_of_a_run(run: Runner, code: int) -> None:
    """Exit code and documents are those of the verdicts; the terminal says what went wrong."""
    answers = {BROKEN: "timed out"} if code else {}
    with serving(lambda _: Reply(status=404)) as server:
        webhook = f"--webhook={server.url}{PATH}"
        done = run(f"--flow={FLOW}", webhook, "--nettests-output=quiet", answers=answers)
    assert done.code == code
    assert done.results["run"]["exit_code"] == code
    assert "webhook: the summary was not sent: it answered 404" in done.out


@pytest.mark.parametrize("output", ["own", "pytest"])
def test_the_address_is_written_nowhere(run: Runner, output: str) -> None:
    """Neither the journal, which holds the command line, nor a document, nor the terminal repeats it."""
    with serving(lambda _: Reply(status=500)) as server:
        webhook = f"--webhook={server.url}{PATH}"
        done = run(f"--flow={FLOW}", webhook, f"--nettests-output={output}", "-n1")
    assert len(server.requests) == 2
    texts = [path.read_text() for path in done.directory.iterdir() if path.is_file()]
    assert len(texts) == 5
    for text in (done.out, *texts):
        assert SECRET not in text
    assert "--webhook=[redacted]" in done.results["run"]["argv"]


def test_a_run_that_cannot_start_is_told_too(run: Runner, tmp_path: Path) -> None:
    """That is what a nightly job must not be silent about."""
    metrics = tmp_path / "nettests.prom"
    with serving(lambda _: Reply()) as server:
        words = [f"--metrics={metrics}", f"--webhook={server.url}{PATH}"]
        environment = {"NETTESTS_FACTS": f"it answered {HELD}"}
        done = run(*words, "--nettests-output=own", environment=environment)
    assert done.code == 7
    (request,) = server.requests
    assert "The run could not start" in request.body["text"]
    assert HELD not in str(request.body)
    assert 'nettests_run_exit_code{context=""} 7.0' in metrics.read_text()


def test_what_cannot_be_used_is_wrong_input(run: Runner, tmp_path: Path) -> None:
    """An address that is not encrypted, a folder for a file: 4 before anything runs, and the address is not repeated."""
    for word, said in (
        (f"--webhook=http://hooks.slack.test{PATH}", "it is no https:// address"),
        (f"--metrics={tmp_path}", "it is a folder"),
        (f"--metrics={tmp_path / 'none' / 'x.prom'}", "name a file in a folder that is there"),
    ):
        done = run(f"--flow={FLOW}", word)
        assert done.code == 4, word
        assert said in done.out
        assert SECRET not in done.out
        if done.directory.exists():
            texts = [path.read_text() for path in done.directory.iterdir() if path.is_file()]
            assert not any(SECRET in text for text in texts)


def test_listing_checks_tells_nobody(run: Runner, tmp_path: Path) -> None:
    """``--collect-only`` is no run."""
    metrics = tmp_path / "nettests.prom"
    with serving(lambda _: Reply()) as server:
        words = [f"--metrics={metrics}", f"--webhook={server.url}{PATH}"]
        run(f"--flow={FLOW}", "--collect-only", *words)
    assert server.requests == []
    assert not metrics.exists()


def test_metrics_take_the_place_of_the_last_ones(results: Results, tmp_path: Path) -> None:
    """At once and whole, for others to read; what is not whole yet is no ``.prom`` file, and nothing is left of it."""
    file = tmp_path / "nettests.prom"
    file.write_text("old")
    with file.open() as scrape:
        said: list[str] = []
        Notifications(metrics=file).send(results, tmp_path, said.append)
        assert scrape.read() == "old"
    assert said == [f"metrics: {file}"]
    assert file.read_text().endswith("# EOF\n")
    umask = os.umask(0)
    os.umask(umask)
    assert file.stat().st_mode & 0o777 == 0o666 & ~umask
    assert list(tmp_path.iterdir()) == [file]


def test_metrics_that_cannot_be_written_any_more_are_told(results: Results, tmp_path: Path) -> None:
    """A folder that went away meanwhile is a line on the terminal, and the webhook is told all the same."""
    with serving(lambda _: Reply()) as server:
        gone = tmp_path / "gone" / "x.prom"
        both = Notifications(metrics=gone, webhook=Webhook(f"{server.url}{PATH}"))
        said: list[str] = []
        both.send(results, tmp_path, said.append)
    assert said == [
        f"metrics: not written to {gone}: No such file or directory",
        "webhook: the summary was sent",
    ]
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ZeroDivisionError(PATH), "nettests failed: ZeroDivisionError"),
        (KeyboardInterrupt(), "interrupted"),
    ],
)
def test_nothing_that_goes_wrong_ends_a_run_otherwise(
    results: Results, tmp_path: Path, error: BaseException, told: str
) -> None:
    """An error of our own is told by its kind, and somebody impatient ends the post alone."""

    class Broken(Webhook):
        def post(self, message: object) -> str:
            raise error

    said: list[str] = []
    Notifications(webhook=Broken(PATH)).send(results, tmp_path, said.append)
    assert said == [f"webhook: {told}"]
