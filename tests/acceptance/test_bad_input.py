"""Wrong input and broken-off runs: one clear message, the right exit code, nothing left behind."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import trustme
from ruamel.yaml import YAML

from tests.acceptance.command import COMMAND, nettests
from tests.acceptance.labs import UpLab, lab

MANIFEST = """\
apiVersion: nettests.dev/v1alpha1
kind: LimitationManifest
layer: cni
limitations:
  - id: nobody-speaks
    summary: Nobody reaches anybody.
    when:
      source: {oss: linux}
    flows: [pod-to-pod-ip]
    expected: {outcome: timed_out}
    mechanism: A test.
    category: by-design
    sources: [{document: A guide}]
"""
PROFILE = (
    "apiVersion: nettests.dev/v1alpha1\nkind: ClusterProfile\nexternalVantage: none\ntimings: {}\n"
)
FILES = {
    "empty": "",
    "torn": "clusters: [",
    "manifest.yaml": MANIFEST,
    "profile.yaml": PROFILE,
}
FLOW = "pod-to-pod-ip"
ONE_FLOW = f"--flow={FLOW}"
FLOWS = (
    *(ONE_FLOW, "--flow=node-to-pod", "--flow=pod-to-service-clusterip"),
    *("--flow=service-unready-backend", "--flow=windows-pod-restricted"),
)
"""Flows that between them have pods and nodes probe, wait for Services, and need a second namespace."""


def newest(reports: Path) -> Path:
    """Return the folder of the newest run, also of one that could not start: ``latest`` names none of those."""
    return max(reports.glob("2*"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a run ended, what it said, and where its reports are."""

    code: int
    said: str
    reports: Path

    def refused(self, code: int, *words: str) -> None:
        """Assert that no run began, and that this was said, explained and written as JUnit."""
        self.ended(code, *words)
        assert "→" in self.said
        assert "<error" in (newest(self.reports) / "junit.xml").read_text()

    def ended(self, code: int, *words: str) -> None:
        """Assert the exit code, and a text for people that holds ``words``."""
        assert self.code == code, self.said
        assert "Traceback" not in self.said
        assert "INTERNALERROR" not in self.said
        for word in words:
            assert word in self.said


def run(reports: Path, *arguments: str, **environment: str) -> Ended:
    """Run with these arguments; no kubeconfig of the machine is seen."""
    hidden = {"HOME": str(reports.parent), "KUBECONFIG": "", **environment}
    done = nettests("run", f"--report-dir={reports}", *arguments, environment=hidden, timeout=60)
    return Ended(code=done.returncode, said=done.stdout + done.stderr, reports=reports)


@pytest.fixture(scope="module")
def up_lab() -> Iterator[UpLab]:
    """A small lab that bad runs meet."""
    with lab("linux") as up:
        yield up


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    """A folder of reports, which a run makes, beside files that are broken."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path / "reports"


def altered(up: UpLab, path: Path, *, cluster: dict[str, Any], user: dict[str, Any]) -> str:
    """Write the lab's kubeconfig with another cluster or user, and return the option that names it."""
    config = YAML(typ="safe").load(Path(up.kubeconfig).read_text())
    config["clusters"][0]["cluster"].update(cluster)
    config["users"][0]["user"].update(user)
    YAML(typ="safe").dump(config, path)
    return f"--kubeconfig={path}"


def kubectl(up: UpLab, *arguments: str) -> str:
    """Probe the lab's API by another client than ours."""
    program = shutil.which("kubectl")
    if program is None:
        pytest.skip("kubectl is not installed")
    done = subprocess.run(
        [program, f"--kubeconfig={up.kubeconfig}", *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def nothing_left(up: UpLab) -> None:
    """Assert that the lab's API holds no namespace of a run."""
    assert kubectl(up, "get", "namespaces", "--selector=nettests.dev/run", "--output=name") == ""


@pytest.mark.parametrize(
    ("file", "says"),
    [("nowhere", "does not exist"), ("torn", "cannot be used")],
)
def test_a_kubeconfig_that_is_none(reports: Path, file: str, says: str) -> None:
    """A kubeconfig that is missing or broken is named, also where the environment names it."""
    path = str(reports.parent / file)
    run(reports, KUBECONFIG=path).refused(7, path, says)


def test_no_kubeconfig_at_all(reports: Path) -> None:
    """Without any, the ways to name one are told."""
    run(reports).refused(7, "no kubeconfig", "--kubeconfig", "--lab")


def test_an_unreachable_server(up_lab: UpLab, reports: Path) -> None:
    """Nothing listens there: server and context are named."""
    nowhere = {"server": "https://127.0.0.1:1"}
    option = altered(up_lab, reports.parent / "k", cluster=nowhere, user={})
    run(reports, option).refused(7, "https://127.0.0.1:1", "cannot be reached")


def test_a_token_that_has_expired(up_lab: UpLab, reports: Path) -> None:
    """A 401 is about credentials."""
    option = altered(up_lab, reports.parent / "k", cluster={}, user={"token": "expired"})
    run(reports, option).refused(7, "does not accept the credentials", "log in again")


def test_the_wrong_authority(up_lab: UpLab, reports: Path) -> None:
    """A certificate that the kubeconfig's authority did not sign is not trusted."""
    authority = reports.parent / "ca.pem"
    trustme.CA().cert_pem.write_to_path(authority)
    path = reports.parent / "k"
    option = altered(up_lab, path, cluster={"certificate-authority": str(authority)}, user={})
    config = YAML(typ="safe").load(path.read_text())
    del config["clusters"][0]["cluster"]["certificate-authority-data"]
    YAML(typ="safe").dump(config, path)
    run(reports, option).refused(7, "was not trusted")


def test_an_identity_that_may_not_create_pods(up_lab: UpLab, reports: Path) -> None:
    """It is probed what only reads; the rest is left out in the name of what is missing, and nothing is made."""
    kubectl(up_lab, "create", "serviceaccount", "reader")
    rights = ("--verb=get,list,watch", "--resource=nodes,namespaces,pods,services")
    kubectl(up_lab, "create", "clusterrole", "reader", *rights)
    account = ("--clusterrole=reader", "--serviceaccount=default:reader")
    kubectl(up_lab, "create", "clusterrolebinding", "reader", *account)
    token = kubectl(up_lab, "create", "token", "reader").strip()
    option = altered(up_lab, reports.parent / "k", cluster={}, user={"token": token})
    done = run(reports, option, ONE_FLOW)
    assert done.code == 7, done.said  # nothing was judged
    results = json.loads((reports / "latest" / "results.json").read_text())
    assert {check["verdict"] for check in results["checks"]} == {"skipped"}
    linux = [check for check in results["checks"] if check["id"].startswith(f"{FLOW}/linux-1/")]
    assert {check["message"] for check in linux} == {"this identity may not create namespaces"}
    named = next(line for line in done.said.splitlines() if "this identity may not" in line)
    for permission in ("create namespaces", "create leases", "create pods", "get pods/exec"):
        assert f" {permission}," in named
    assert "nettests preflight" in done.said
    nothing_left(up_lab)


@pytest.mark.parametrize(
    ("option", "code", "words"),
    [
        ("--context=lab-tset", 7, ("no context 'lab-tset'", "'lab-test-")),
        ("--limitations={}/manifest.yaml", 4, ("manifest.yaml:8:", "'oss'", "did you mean 'os'?")),
        ("--cluster-profile={}/profile.yaml", 4, ("profile.yaml:4:", "did you mean 'timing'?")),
        ("--flow=pod-to-pod-op", 4, ("'pod-to-pod-op'", "did you mean 'pod-to-pod-ip'")),
    ],
)
def test_wrong_words(
    up_lab: UpLab, reports: Path, option: str, code: int, words: tuple[str, ...]
) -> None:
    """Contexts, manifests, profiles and flows that are wrong come with the nearest right word."""
    given = option.format(reports.parent)
    run(reports, f"--kubeconfig={up_lab.kubeconfig}", given).refused(code, *words)


def test_an_unknown_lab_profile(reports: Path) -> None:
    """A lab that does not exist comes with those that do."""
    run(reports, "--lab=win2019-overly").refused(7, 'Did you mean "win2019-overlay"?')


def test_no_nft(reports: Path) -> None:
    """A lab without nft says what to install."""
    run(reports, "--lab=linux", NETTESTS_NFT="/nowhere/nft").refused(7, "NETTESTS_NFT")


def test_no_user_namespaces(reports: Path) -> None:
    """Where namespaces are switched off, the setting that does it is named."""
    script = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
    inside = ["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh"]
    if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode:
        pytest.skip("user namespaces are switched off already")
    done = subprocess.run(
        [*inside, *COMMAND, "run", "--lab=linux", f"--report-dir={reports}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    ended = Ended(code=done.returncode, said=done.stdout + done.stderr, reports=reports)
    ended.refused(7, "user.max_user_namespaces")


def test_a_report_folder_that_cannot_be_written(up_lab: UpLab, reports: Path) -> None:
    """It is said before anything is probed, not at the end."""
    below = reports.parent / "empty" / "reports"
    ended = run(below, f"--kubeconfig={up_lab.kubeconfig}")
    ended.ended(4, "no report can be written", "--report-dir")


def test_without_windows_nodes(up_lab: UpLab, reports: Path) -> None:
    """The run is clean, and says that nothing in it speaks of Windows."""
    ended = run(reports, f"--kubeconfig={up_lab.kubeconfig}", ONE_FLOW)
    ended.ended(0, "nothing here speaks of Windows", "0 Windows nodes")
    assert "the cluster has no Windows node" in (reports / "latest" / "junit.xml").read_text()


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        (7, ("--flow=nodeport-from-external",)),
        (5, (ONE_FLOW, "--", "-k", "nothing")),
        (4, (ONE_FLOW, "--", "-k", "and and")),
    ],
)
def test_a_run_that_judges_nothing_is_no_success(
    up_lab: UpLab, reports: Path, code: int, arguments: tuple[str, ...]
) -> None:
    """All skipped is 7, none selected pytest's 5, wrong words to pytest its 4; nothing is deployed."""
    ended = run(reports, f"--kubeconfig={up_lab.kubeconfig}", *arguments)
    ended.ended(code)
    assert "deploy" not in ended.said
    nothing_left(up_lab)


def test_collecting_only_leaves_no_trace(up_lab: UpLab, reports: Path) -> None:
    """--collect-only probes the cluster nothing but its facts, and writes nothing."""
    run(reports, f"--kubeconfig={up_lab.kubeconfig}", ONE_FLOW, "--", "--collect-only").ended(0)
    assert not reports.exists()


@pytest.mark.parametrize(
    ("stage", "number", "times"),
    [
        ("discover", signal.SIGTERM, 1),
        ("converge", signal.SIGINT, 1),
        ("observe", signal.SIGINT, 2),
    ],
)
def test_a_run_that_is_interrupted(
    up_lab: UpLab, reports: Path, stage: str, number: signal.Signals, times: int
) -> None:
    """At every stage and by every signal: exit code 2, reports are written, the cluster is clean."""
    ended = interrupted(up_lab, reports, stage, number, times)
    ended.ended(2, "interrupted")
    for name in ("junit.xml", "report.html", "results.json"):
        assert (newest(reports) / name).is_file()
    nothing_left(up_lab)


def interrupted(up: UpLab, reports: Path, stage: str, number: signal.Signals, times: int) -> Ended:
    """Run until a line of ``stage`` is printed, then send the signal."""
    process = subprocess.Popen(
        [*COMMAND, "run", f"--kubeconfig={up.kubeconfig}", f"--report-dir={reports}", *FLOWS],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    said, left = [], times
    with process.stdout:
        for line in process.stdout:
            said.append(line)
            # The second one comes while the first is being obeyed: with the next line that is printed.
            if left and (line.startswith(stage) or left < times):
                process.send_signal(number)
                left -= 1
    return Ended(code=process.wait(timeout=60), said="".join(said), reports=reports)


def test_a_run_after_one_that_was_killed(up_lab: UpLab, reports: Path) -> None:
    """kill -9 leaves a run's labelled namespaces, which disturb nobody and which one command removes."""
    killed = interrupted(up_lab, reports, "converge", signal.SIGKILL, 1)
    assert killed.code == -signal.SIGKILL
    after = replace(killed, reports=reports.parent / "after")
    run(after.reports, f"--kubeconfig={up_lab.kubeconfig}", ONE_FLOW).ended(0)
    left = kubectl(up_lab, "get", "namespaces", "--selector=nettests.dev/run", "--output=name")
    own, *more = sorted(left.split())
    assert more in ([], [f"{own}-restricted"])
    kubectl(up_lab, "delete", "namespaces", "--selector=nettests.dev/run")
    nothing_left(up_lab)
