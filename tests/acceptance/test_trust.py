"""Nothing is green by accident: careless suites, dying workers, sick channels, damaged journals."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from nettests.errors import NettestsError
from nettests.model.check_id import member_of
from nettests.model.history import TWICE
from nettests.model.verdict import Judgement
from nettests.model.words import Verdict
from nettests.session.blueprint import read_manifests
from nettests.session.rejudge import rejudged
from tests.acceptance.command import nettests
from tests.acceptance.labs import UpLab, lab
from tests.acceptance.runs import FinishedRun, run_on
from tests.session.recorded_journal import read_recorded

SUITE = '''
"""A vendor's suite that is careless in every way."""

import os

from nettests.model.expectation import Source
from nettests.model.words import Protocol, Question, Resolver, SourceSeen, TargetKind, VantageKind
from nettests.plan import Matrix, NameForm, flow

COMMON = {"source": VantageKind.POD, "matrix": Matrix.NEAREST, "sources": (Source(document="Ours"),)}
TCP = {"target": TargetKind.POD_IP, "protocols": (Protocol.TCP,), **COMMON}


@flow("asserts-nothing", source_seen=SourceSeen.CLIENT_NODE, **TCP)
def test_asserts_nothing(verdict):
    """Claims what is not so, and never looks."""


@flow("never-asks", **TCP)
def test_never_asks(check):
    """Does not even want the verdict."""


@flow("kills-its-worker", **TCP)
def test_kills_its_worker(verdict, request):
    """Takes the process with it."""
    if hasattr(request.config, "workerinput"):
        os.kill(os.getpid(), 9)


@flow(
    "leads-elsewhere",
    target=TargetKind.SERVICE_PARTIAL_NAME,
    question=Question.RESOLVE,
    names=(
        NameForm(
            template="kube-dns.kube-system.svc.{domain}",
            resolvers=(Resolver.SYSTEM, Resolver.NSLOOKUP),
        ),
    ),
    **COMMON,
)
def test_leads_elsewhere(verdict):
    """The name resolves, to somebody else's address, as with a wildcard record."""
    assert verdict.accepted, verdict.message


@flow("honest", **TCP)
def test_honest(verdict):
    """A flow that works."""
    assert verdict.accepted, verdict.message
'''

EXPIRED = """\
apiVersion: nettests.dev/v1alpha1
kind: LimitationManifest
layer: site
limitations:
  - id: we-know
    summary: Nobody reaches anybody.
    flows: [pod-to-pod-ip]
    expected: {outcome: timed_out}
    mechanism: A firewall.
    category: environment
    sources: [{document: Our tickets}]
    reason: the firewall is being replaced
    review_by: 2020-02-02
"""


@pytest.fixture(scope="module")
def up_lab() -> Iterator[UpLab]:
    """A small lab on which everything works."""
    with lab("linux") as up:
        yield up


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The option that names the careless suite."""
    folder = tmp_path_factory.mktemp("vendor")
    (folder / "test_careless.py").write_text(SUITE)
    return f"--suite={folder}"


def by_flow(run: FinishedRun) -> dict[str, set[str]]:
    """The verdicts of each flow, skips left out."""
    found: dict[str, set[str]] = {}
    for check in run.results["checks"]:
        if check["verdict"] != "skipped":
            found.setdefault(check["flow"], set()).add(check["verdict"])
    return found


def test_a_careless_suite_is_not_green(up_lab: UpLab, suite: str, tmp_path: Path) -> None:
    """Verdicts count, not what a suite's tests do with them, nor how pytest is called."""
    flows = ("asserts-nothing", "never-asks", "kills-its-worker", "leads-elsewhere", "honest")
    junit = tmp_path / "pytest.xml"
    run = run_on(
        up_lab,
        tmp_path,
        suite,
        *(f"--flow={name}" for name in flows),
        *("-n2", "--", "--runxfail", f"--junitxml={junit}"),
    )
    assert by_flow(run) == {
        "asserts-nothing": {"fail"},
        "never-asks": {"unknown"},
        "kills-its-worker": {"unknown"},
        "leads-elsewhere": {"fail"},
        "honest": {"pass"},
    }, run.printed
    assert run.exit_code == 1
    assert run.printed.startswith("Cluster DNS answers wrongly")
    led = [one["message"] for one in run.results["checks"] if one["flow"] == "leads-elsewhere"]
    assert any("not to the target's address" in message for message in led), led
    assert "fail: Linux pod" in junit.read_text()  # pytest's own report says so too


def test_what_was_never_judged_is_not_green(up_lab: UpLab, suite: str, tmp_path: Path) -> None:
    """A run that pytest ends early counts the rest as unknown, in its documents and in its journal."""
    chosen = ("--flow=never-asks", "--flow=asserts-nothing", "--flow=honest")
    run = run_on(up_lab, tmp_path, suite, *chosen, "--", "--maxfail=1")
    assert run.exit_code == 1
    assert by_flow(run)["honest"] == {"unknown"}
    assert run.records[-1]["counts"]["unknown"] >= 1
    assert run.records[-1]["counts"]["pass"] == 0


def test_a_sick_api_turns_nothing_red(up_lab: UpLab, tmp_path: Path) -> None:
    """With a fifth of all requests failing a check is right or unknown, and unknown is no success."""
    up_lab.fault("inject", "api-errors", "--rate", "0.2")
    try:
        run = run_on(up_lab, tmp_path, "--flow=pod-to-pod-ip", "--flow=node-to-pod")
    finally:
        up_lab.fault("clear")
    if run.exit_code == 7:
        pytest.skip("the API was too sick to begin")
    verdicts = set.union(*by_flow(run).values())
    assert verdicts <= {"pass", "unknown"}, run.printed
    assert run.exit_code == (6 if "unknown" in verdicts else 0)


def test_tokens_that_expire_all_the_time_disturb_nothing(up_lab: UpLab, tmp_path: Path) -> None:
    """Requests, watches, forwardings and execs go on with the next token of the kubeconfig's plugin."""
    told = nettests("lab", "kubeconfig", "--short-lived", "--name", up_lab.name)
    plugin = replace(up_lab, kubeconfig=told.stdout.strip())
    flows = ("pod-to-pod-ip", "node-to-pod", "kubectl-to-pod", "pod-port-forward")
    up_lab.fault("inject", "expired-tokens", "--rate", "0.1", "--seed", "3")
    try:
        run = run_on(plugin, tmp_path, *(f"--flow={name}" for name in flows))
    finally:
        up_lab.fault("clear")
    assert run.exit_code == 0, run.printed
    assert set(by_flow(run)) == set(flows)
    assert set.union(*by_flow(run).values()) == {"pass"}, run.printed


def test_an_expired_entry_of_the_site_ends_the_run(up_lab: UpLab, tmp_path: Path) -> None:
    """An excuse whose date has passed excuses nothing: file, line and date are told."""
    manifest = tmp_path / "site.yaml"
    manifest.write_text(EXPIRED)
    given = (f"--kubeconfig={up_lab.kubeconfig}", f"--limitations={manifest}")
    done = nettests("plan", *given)
    assert done.returncode == 4
    assert f"{manifest}:5: we-know was to be reviewed by 2020-02-02" in done.stderr


@pytest.fixture(scope="module")
def journal(up_lab: UpLab, tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """The journal of a run in which everything passed, by lines."""
    run = run_on(up_lab, tmp_path_factory.mktemp("whole"), "--flow=pod-to-pod-ip")
    assert run.exit_code == 0, run.printed
    return (run.directory / "journal.jsonl").read_bytes().splitlines(keepends=True)


def judgements_again(path: Path, written: bytes) -> list[Judgement]:
    """What is recomputed from what is left of a journal."""
    path.write_bytes(written)
    manifests, _ = read_manifests()
    return rejudged(read_recorded(path), manifests)


def judged_again(path: Path, written: bytes) -> list[tuple[Verdict, str]]:
    """Verdicts and messages recomputed from what is left of a journal."""
    return [(told.verdict, told.message) for told in judgements_again(path, written)]


def dones(journal: list[bytes]) -> dict[int, str]:
    """The places of the records that end the observation of a check, or of a member, with its id."""
    records = map(json.loads, journal)
    return {n: record["check"] for n, record in enumerate(records) if record["record"] == "done"}


def first_whole(ends: dict[int, str]) -> int:
    """The place of the record with which the first check has both of its members finished."""
    begun: set[str] = set()
    for place, ended in ends.items():
        if member_of(ended):
            check = ended.removesuffix(f"#{member_of(ended)}")
            if check in begun:
                return place
            begun.add(check)
    raise AssertionError("no check of two members is finished")


def test_a_whole_journal_is_judged_the_same_again(journal: list[bytes], tmp_path: Path) -> None:
    """The counterpart of the damaged ones."""
    again = judged_again(tmp_path / "j", b"".join(journal))
    assert {verdict for verdict, _ in again} == {Verdict.PASS}


def test_a_truncated_journal_leaves_the_rest_unknown(journal: list[bytes], tmp_path: Path) -> None:
    """Cut in the middle of a record, each check a member of which was not finished before is unknown."""
    ends = dones(journal)
    last = first_whole(ends)
    before = {ended for place, ended in ends.items() if place <= last}
    cut = b"".join(journal[: last + 1]) + journal[last + 1][:40]
    finished, unfinished = 0, 0
    for told in judgements_again(tmp_path / "j", cut):
        members = {ended for ended in ends.values() if ended.startswith(f"{told.check}#")}
        assert len(members) == 2
        whole = members <= before
        assert told.verdict is (Verdict.PASS if whole else Verdict.UNKNOWN), told
        finished, unfinished = finished + whole, unfinished + (not whole)
    assert finished
    assert unfinished


def test_an_answer_that_is_lost_in_the_middle_is_missed(
    journal: list[bytes], tmp_path: Path
) -> None:
    """What is left would agree all the better: a check that lacks an answer is unknown, the others are not."""
    answers = [n for n, line in enumerate(journal) if json.loads(line)["record"] == "raw"]
    lost = next(n for n in answers if json.loads(journal[n])["raw"]["purpose"] == "check")
    told = judged_again(tmp_path / "j", b"".join(journal[:lost] + journal[lost + 1 :]))
    distrusted = [message for verdict, message in told if verdict is Verdict.UNKNOWN]
    assert len(distrusted) == 1
    assert "of its" in distrusted[0]
    assert {verdict for verdict, _ in told} == {Verdict.PASS, Verdict.UNKNOWN}


def test_a_journal_written_twice_is_not_trusted(journal: list[bytes], tmp_path: Path) -> None:
    """An observation that stands there twice belongs to nobody knows which run."""
    twice = judged_again(tmp_path / "j", b"".join([*journal, *journal]))
    assert {verdict for verdict, _ in twice} == {Verdict.UNKNOWN}
    assert all(TWICE in message for _, message in twice)


def test_what_is_no_journal_is_said(tmp_path: Path) -> None:
    """A file of something else is an error for people."""
    (tmp_path / "j").write_text("not a journal\n")
    with pytest.raises(NettestsError, match="line 1 of the journal cannot be read"):
        read_recorded(tmp_path / "j")
