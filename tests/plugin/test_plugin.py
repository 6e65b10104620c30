"""The plugin in whole pytest runs, on canned answers: outcomes, exit codes, documents, workers."""

from collections import Counter
from pathlib import Path

import pytest

from nettests.model.exit_code import ExitCode
from nettests.resources import suites_path
from tests.plugin.runner import VENDOR_SUITE, Runner, vendor
from tests.plugin.standin import HELD

pytest_plugins = "pytester"

FLOW = "pod-to-pod-ip"
FIRST = "pod-to-pod-ip/linux-1/linux-1/other-node/tcp"
WINDOWS = "pod-to-pod-ip/windows-1/linux-1/other-node/udp"

CARELESS = f"""
def test_careless():
    told = "the proxy wants {HELD}"
    assert told == "password=hunter2-planted"
"""


@pytest.mark.parametrize("workers", [(), ("-n1",)])
def test_nothing_on_the_terminal_repeats_a_secret(
    run: Runner, pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    """Failures of suites' own tests, and what could not be removed, are told without known secrets or shapes of some."""
    suite = pytester.path / "careless" / "test_careless.py"
    suite.parent.mkdir()
    suite.write_text(CARELESS)
    left = f"the namespace: {HELD} was refused, token=hunter2-planted"
    done = run(
        f"--flow={FLOW}",
        "--nettests-output=own",
        *workers,
        suites=(suites_path(), suite),
        environment={"NETTESTS_LEFT": left},
    )
    assert "the proxy wants [redacted]" in done.out
    assert "left behind: the namespace: [redacted] was refused, token=[redacted]" in done.out
    assert HELD not in done.out
    assert "hunter2" not in done.out


@pytest.mark.parametrize("output", ["own", "quiet", "pytest"])
def test_a_failed_start_repeats_no_secret(run: Runner, output: str) -> None:
    """What was learnt before the run broke off is in neither its documents nor the last words."""
    done = run(
        f"--nettests-output={output}",
        environment={"NETTESTS_FACTS": f"it answered {HELD} and Bearer hunter2-planted"},
    )
    texts = [path.read_text() for path in done.directory.iterdir()]
    for text in (done.out, *texts):
        assert HELD not in text
        assert "hunter2" not in text
    assert "it answered [redacted]" in done.out
    assert len([text for text in texts if "it answered [redacted]" in text]) >= 4


def test_what_is_as_documented_passes(run: Runner) -> None:
    """Every check is one test; all pass, the exit code is 0 and the documents stand."""
    done = run(f"--flow={FLOW}")
    done.result.assert_outcomes(passed=12)
    assert done.code == 0
    assert Counter(done.verdicts.values()) == {"pass": 12}
    for name in ("journal.jsonl", "results.json", "junit.xml", "report.html", "summary.md"):
        assert (done.directory / name).stat().st_size > 0


def test_a_deviation_fails_its_test_alone(run: Runner) -> None:
    """A check that deviates fails with expected and observed, and the exit code is 1."""
    done = run(f"--flow={FLOW}", answers={WINDOWS: "timed out"})
    done.result.assert_outcomes(passed=11, failed=1)
    assert done.code == 1
    assert {i for i, verdict in done.verdicts.items() if verdict == "fail"} == {WINDOWS}
    assert "timed_out" in done.out


def test_a_broken_channel_is_an_error_and_six(run: Runner) -> None:
    """What cannot be trusted is an error of the fixture, and unknown alone ends a run with 6."""
    done = run(f"--flow={FLOW}", answers={WINDOWS: "channel"})
    done.result.assert_outcomes(passed=11, errors=1)
    assert done.code == 6
    assert done.verdicts[WINDOWS] == "unknown"


def test_what_the_probe_cannot_test_is_skipped(run: Runner) -> None:
    """A capability that the probe lacks skips the check with the reason."""
    done = run("--flow=icmp-pod-to-pod", "-rs", answers={"windows-1/windows-1": "skip"})
    done.result.assert_outcomes(passed=4, skipped=2)
    assert "the probe has no ping" in done.out
    assert Counter(done.verdicts.values()) == {"pass": 4, "skipped": 2}


def test_planned_skips_are_skipped_tests(run: Runner) -> None:
    """What does not apply to the cluster appears as a skipped test with its reason."""
    done = run(f"--flow={FLOW}", "-rs", environment={"NETTESTS_FACTS": "linux"})
    done.result.assert_outcomes(passed=4, skipped=1)
    assert "the cluster has no Windows node" in done.out
    assert done.verdicts["pod-to-pod-ip/windows"] == "skipped"


def test_a_flow_that_is_left_out_as_a_whole_is_one_skipped_test(run: Runner) -> None:
    """It has no node pool in its id, and is told with its reason all the same: nothing is skipped silently."""
    done = run(f"--flow={FLOW}", "--flow=dual-stack-service")
    done.result.assert_outcomes(passed=12, skipped=1)
    assert done.verdicts["dual-stack-service"] == "skipped"
    (told,) = [one for one in done.results["checks"] if one["id"] == "dual-stack-service"]
    assert "the cluster has IPv4 only" in told["message"]


def test_a_run_that_only_skips_is_seven(run: Runner) -> None:
    """Nothing judged is not success."""
    done = run("--flow=nodeport-from-external", "-k", "udp")
    assert done.code == 7


@pytest.mark.parametrize("runxfail", [(), ("--runxfail",)])
def test_a_vendors_suite_and_manifest_are_picked_up(
    run: Runner, pytester: pytest.Pytester, runxfail: tuple[str, ...]
) -> None:
    """A flow and a limitation from outside the package: xfailed with the id, also under --runxfail."""
    suite, manifest = vendor(pytester.path / "vendor", "{outcome: timed_out}")
    done = run(f"--limitations={manifest}", "-rx", *runxfail, suites=(suite,))
    done.result.assert_outcomes(passed=1, xfailed=1)
    assert done.code == 0
    assert "vendor-no-local-service" in done.out
    assert set(done.verdicts.values()) == {"pass", "limited"}


def test_a_class_is_skipped_until_it_is_enabled(run: Runner, pytester: pytest.Pytester) -> None:
    """A costly flow is skipped with the option that enables it, and tested with it, by workers too."""
    suite, _ = vendor(pytester.path / "vendor", "unspecified")
    text = suite.read_text().replace("CheckClass.DEFAULT", "CheckClass.COSTLY")
    suite.write_text(text)
    left = run(f"--flow={FLOW}", "--flow=vendor-local", suites=(suites_path(), suite))
    assert left.verdicts["vendor-local/windows-1/windows-1/same-node/tcp"] == "skipped"
    assert "--enable=costly" in (left.directory / "junit.xml").read_text()
    for workers in ((), ("-n2",)):
        probed = run("--enable=exposed,costly", *workers, suites=(suite,))
        assert Counter(probed.verdicts.values()) == {"pass": 2}
        assert probed.code == 0


def test_a_limitation_that_does_not_show_fails(run: Runner, pytester: pytest.Pytester) -> None:
    """An unexpected pass is strict: lifted fails the run."""
    suite, manifest = vendor(pytester.path / "vendor", "{outcome: timed_out}")
    answers = {"vendor-local/windows-1": "connected"}
    done = run(f"--limitations={manifest}", suites=(suite,), answers=answers)
    done.result.assert_outcomes(passed=1, failed=1)
    assert done.code == 1
    assert "lifted" in done.verdicts.values()


def test_another_failure_does_not_satisfy_a_limitation(
    run: Runner, pytester: pytest.Pytester
) -> None:
    """A limitation that says timed_out is not satisfied by refused."""
    suite, manifest = vendor(pytester.path / "vendor", "{outcome: timed_out}")
    answers = {"vendor-local/windows-1": "refused"}
    done = run(f"--limitations={manifest}", suites=(suite,), answers=answers)
    done.result.assert_outcomes(passed=1, failed=1)
    assert set(done.verdicts.values()) == {"pass", "fail"}


def test_what_documents_leave_open_is_recorded(run: Runner, pytester: pytest.Pytester) -> None:
    """An unspecified outcome passes, and is recorded as what it is."""
    suite, manifest = vendor(pytester.path / "vendor", "unspecified")
    answers = {"vendor-local/windows-1": "timed out"}
    done = run(f"--limitations={manifest}", suites=(suite,), answers=answers)
    done.result.assert_outcomes(passed=2)
    assert done.code == 0
    assert set(done.verdicts.values()) == {"pass", "recorded"}


def test_workers_give_the_same_ids_and_verdicts(run: Runner, pytester: pytest.Pytester) -> None:
    """With -n 2 nothing differs, and nothing is observed or judged twice: each test takes the judgement of who observed."""
    suite, manifest = vendor(pytester.path / "vendor", "{outcome: timed_out}")
    both = (suites_path(), suite)
    chosen = [f"--flow={name}" for name in (FLOW, "pod-to-pod-name", "vendor-local")]
    answers = {WINDOWS: "timed out", FIRST: "channel"}
    alone = run(f"--limitations={manifest}", *chosen, suites=both, answers=answers)
    shared = run("-n2", f"--limitations={manifest}", *chosen, suites=both, answers=answers)
    assert shared.verdicts == alone.verdicts
    assert Counter(alone.verdicts.values()) == {"pass": 23, "fail": 1, "unknown": 1, "limited": 1}
    assert (alone.code, shared.code) == (1, 1)
    done = [r for r in shared.records if r["record"] == "done" and "judgement" in r]
    observed = {r["check"]: r["judgement"] for r in done}
    assert len(done) == len(observed) == 26
    judged = [r["judgement"] for r in shared.records if r["record"] == "judged"]
    assert {judgement["check"]: judgement for judgement in judged} == observed
    assert len(judged) == 26


def test_a_verdict_counts_once_its_test_has_taken_it(run: Runner) -> None:
    """A run that pytest ends early leaves the rest unknown, in its documents as in its exit code."""
    linux = {"NETTESTS_FACTS": "linux"}
    done = run(f"--flow={FLOW}", "-x", answers={FIRST: "channel"}, environment=linux)
    assert done.code == 6
    assert Counter(done.verdicts.values()) == {"unknown": 4, "skipped": 1}
    assert done.records[-1]["counts"] == done.results["counts"]


def test_a_crashed_worker_leaves_its_check_unknown(run: Runner) -> None:
    """The check on which a worker died is unknown; the others are judged."""
    done = run("-n2", f"--flow={FLOW}", environment={"NETTESTS_DIE": WINDOWS})
    assert done.verdicts[WINDOWS] == "unknown"
    assert Counter(done.verdicts.values()) == {"pass": 11, "unknown": 1}
    assert done.code == 6


def test_traces_of_incidents_do_not_start_pytests_debugger(run: Runner) -> None:
    """--trace is pytest's own option, which enters the debugger at each test: ours shares nothing with it."""
    done = run(f"--flow={FLOW}", "--trace-incidents")
    assert "(Pdb)" not in done.out
    assert (done.code, set(done.verdicts.values())) == (0, {"pass"})


def test_an_interruption_cleans_up_and_reports(run: Runner) -> None:
    """Ctrl-C ends the run with pytest's 2, removes what was deployed, and writes the documents."""
    done = run(f"--flow={FLOW}", answers={WINDOWS: "hang"}, environment={"NETTESTS_DIE": WINDOWS})
    assert done.code == 2
    removed, sent = (r["text"] for r in done.records if r["record"] == "event")
    assert removed == "everything was removed"
    assert sent.startswith("the API server was sent ")
    assert done.records[-1]["record"] == "end"
    assert done.verdicts[WINDOWS] == "unknown"
    assert "The run was interrupted" in done.out
    assert WINDOWS not in done.out  # what was never judged is no finding


def test_an_interrupted_end_cleans_up_and_reports(run: Runner) -> None:
    """Ctrl-C while the exit code is decided: objects are removed, and the documents written all the same."""
    done = run(f"--flow={FLOW}", environment={"NETTESTS_DIE": "at the end"})
    assert done.code == 2
    assert "everything was removed" in [r["text"] for r in done.records if r["record"] == "event"]
    assert set(done.verdicts.values()) == {"pass"}


def test_only_what_was_selected_is_observed(run: Runner) -> None:
    """Checks that -k deselects are neither run nor reported as due."""
    done = run(f"--flow={FLOW}", "-k", "windows-1/windows-1 and tcp")
    assert {i.rsplit("/", 1)[1] for i in done.verdicts} == {"tcp"}
    assert len(done.verdicts) == 2
    planned = [r for r in done.records if r["record"] == "planned"]
    assert len(planned) == 2


def test_a_node_id_selects_one_check(run: Runner) -> None:
    """A single test is named as pytest names it."""
    test = f"{suites_path() / 'test_pod_to_pod.py'}::test_pod_to_pod_ip[{FIRST}]"
    done = run(suites=(Path(test),))
    assert set(done.verdicts) == {FIRST}


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_patterns_select_flows_and_checks(run: Runner, workers: str) -> None:
    """In every process; what is left out is neither run nor due."""
    done = run(
        "--flow=pod-to-pod-*",
        "--flow=!pod-to-pod-name*",
        "--check=*/tcp",
        f"--check=!{FIRST}",
        workers,
    )
    assert done.code == 0
    assert {(i.partition("/")[0], i.rpartition("/")[2]) for i in done.verdicts} >= {(FLOW, "tcp")}
    assert {i.rpartition("/")[2] for i in done.verdicts} == {"tcp"}
    assert FIRST not in done.verdicts


def test_what_failed_is_run_again_alone(run: Runner) -> None:
    """Of the latest run; once all is well there is nothing left to repeat, which writes no new ``latest``."""
    first = run(f"--flow={FLOW}", answers={WINDOWS: "timed out", FIRST: "channel"})
    assert first.code == 1
    again = run("--rerun-failed", f"--flow={FLOW}", answers={WINDOWS: "timed out"})
    assert again.verdicts == {WINDOWS: "fail", FIRST: "pass"}
    named = run(f"--rerun-failed={first.directory}")
    assert named.code == 0
    assert set(named.verdicts) == {WINDOWS, FIRST}
    refused = run("--rerun-failed")
    assert refused.code == 4
    assert "nothing failed in run" in refused.out
    assert (run.pytester.path / "reports/latest").resolve() == named.directory


def test_collecting_only_tests_nothing(run: Runner) -> None:
    """--collect-only lists the checks and leaves no trace."""
    done = run("--collect-only", "-q", f"--flow={FLOW}")
    assert FIRST in done.out
    assert not (run.pytester.path / "reports").exists()


@pytest.mark.parametrize(
    ("arguments", "environment", "code", "says"),
    [
        (("--flow=pod-to-pod-op",), {}, 4, "did you mean 'pod-to-pod-ip'"),
        (("--lab=reports",), {}, 4, "put --lab last"),
        (("--enable=costy",), {}, 4, "did you mean 'costly'"),
        ((), {"NETTESTS_FACTS": "interrupt"}, 2, "interrupted before it began"),
        ((), {"NETTESTS_FACTS": "the API server is gone"}, 7, "the API server is gone"),
        (("--limitations=nowhere.yaml",), {}, 4, "nowhere.yaml"),
        (("--flow=pod-to-pdo-*",), {}, 4, "did you mean 'pod-to-"),
        (("--check=pod-to-pdo-ip/*",), {"NETTESTS_FACTS": "gone"}, 4, "did you mean 'pod-to-"),
        (("--enable=packets",), {"NETTESTS_WITHOUT": "scapy"}, 4, "nettests[packets]"),
        (("--trace-incidents",), {"NETTESTS_WITHOUT": "scapy"}, 4, "nettests[packets]"),
        (("--check=pod-to-pod-ip/*/sctp",), {}, 4, "this cluster has no check that matches"),
    ],
)
def test_a_run_that_cannot_start_says_why_and_writes_junit(
    run: Runner, arguments: tuple[str, ...], environment: dict[str, str], code: int, says: str
) -> None:
    """Wrong input and an unusable cluster end with a sentence, without a traceback, with documents."""
    (run.pytester.path / "reports").mkdir()
    done = run(*arguments, environment=environment)
    assert done.code == code
    assert says in done.out
    assert "Traceback" not in done.out
    assert "<error" in (done.directory / "junit.xml").read_text()


def test_properties_travel_with_the_tests(run: Runner, pytester: pytest.Pytester) -> None:
    """pytest's own JUnit shows the verdict and the limitation of each test."""
    suite, manifest = vendor(pytester.path / "vendor", "{outcome: timed_out}")
    run(f"--limitations={manifest}", "--junitxml=own.xml", suites=(suite,))
    written = (pytester.path / "own.xml").read_text()
    assert 'name="verdict" value="limited"' in written
    assert 'name="limitation" value="vendor-no-local-service"' in written


def test_our_own_output_replaces_pytests(run: Runner) -> None:
    """With our output there are plain stage lines and a summary that ends with the report's path."""
    done = run(f"--flow={FLOW}", "--nettests-output=own", "-qq")
    lines = done.result.outlines
    assert lines[0] == "discover"
    assert "observe: 32/32 observations made" in lines
    assert lines[-1].startswith("report: ")
    assert lines[-1].endswith("report.html")
    assert len(lines) <= 20


def test_other_pytest_runs_are_left_alone(pytester: pytest.Pytester) -> None:
    """Without our options and suites the plugin does nothing, and loads no client library."""
    pytester.makepyfile(
        """
        import sys

        def test_nothing_was_loaded(request):
            assert not request.config.pluginmanager.has_plugin("nettests-controller")
            assert "kubernetes" not in sys.modules
            assert "nettests.session.run" not in sys.modules
        """
    )
    pytester.makeini("[pytest]")
    done = pytester.runpytest_subprocess("-pno:nettests", "-pnettests.plugin")
    done.assert_outcomes(passed=1)


def test_a_suite_without_a_cluster_is_refused(pytester: pytest.Pytester) -> None:
    """A suite outside the package that is run without naming a cluster says what is missing."""
    pytester.makeini("[pytest]")
    suite = pytester.makepyfile(test_vendor=VENDOR_SUITE)
    done = pytester.runpytest_subprocess("-pno:nettests", "-pnettests.plugin", suite)
    assert done.ret != 0
    assert "add --kubeconfig=FILE" in done.stdout.str() + done.stderr.str()


def test_a_disk_that_is_full_ends_the_run_with_a_sentence(run: Runner) -> None:
    """No test waits for a journal that cannot be written; what it does not hold was not judged, and nothing is green."""
    done = run(
        f"--flow={FLOW}",
        "--nettests-output=own",
        "-qq",
        environment={"NETTESTS_ROOM": "9000"},
    )
    assert done.code == ExitCode.UNKNOWN, done.out
    assert "journal.jsonl cannot be written: File too large" in done.out
    assert "no report could be written" in done.out
    assert "12 checks planned: 0 ran, 0 skipped, 12 never judged" in done.out
    assert "Traceback" not in done.out
