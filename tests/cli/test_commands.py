"""The command line: words in, text out, and errors that a person can act on."""

import json
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner

from nettests import __version__
from nettests.cli import discover_commands, main
from nettests.errors import ClusterError
from nettests.model.cluster_profile import ClusterProfile
from nettests.model.exit_code import ExitCode
from nettests.model.facts import ClusterFacts
from nettests.session.run_options import RunOptions
from tests.cli.calling import nettests
from tests.plan.clusters import mixed

CHECK = "pod-to-pod-ip/windows-1/linux-1/other-node/tcp"


@pytest.fixture
def stated(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster whose facts are stated instead of read."""

    def read(options: RunOptions, profile: ClusterProfile) -> ClusterFacts:
        return mixed()

    monkeypatch.setattr(discover_commands, "read_facts", read)


def test_the_version_is_the_packages() -> None:
    """--version says which nettests this is."""
    assert nettests("--version").output == f"nettests, version {__version__}\n"


@pytest.mark.parametrize("command", ["run", "plan", "explain"])
def test_every_command_explains_itself(command: str) -> None:
    """--help names the options that choose a cluster."""
    shown = nettests(command, "--help")
    assert shown.exit_code == 0
    for option in (
        "--lab",
        "--kubeconfig",
        "--context",
        "--cluster-profile",
        "--limitations",
        "--enable",
    ):
        assert option in shown.output


def test_it_runs_as_a_module() -> None:
    """``python -m nettests`` is the same command."""
    done = subprocess.run(
        [sys.executable, "-m", "nettests", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"nettests, version {__version__}\n"


@pytest.mark.usefixtures("stated")
def test_plan_lists_checks_with_what_is_expected() -> None:
    """Each check is one line with its expected outcome; the totals come last."""
    shown = nettests("plan", "--flow=pod-to-pod-ip")
    lines = shown.output.splitlines()
    assert f"{CHECK}  connected, source = client-pod, 4 pairs of nodes" in lines
    assert lines[-1] == "12 checks of 1 flow, 0 skipped; 8 Pods, 0 Services"


@pytest.mark.usefixtures("stated")
def test_plan_lists_skips_with_reasons() -> None:
    """What would be skipped is listed too."""
    shown = nettests("plan", "--flow=nodeport-from-external")
    assert "skipped: the external vantage carries TCP only, not UDP" in shown.output


@pytest.mark.usefixtures("stated")
def test_plan_as_json_has_all_of_it() -> None:
    """--json carries checks with controls and expectations, skips, pods and Services."""
    data = json.loads(nettests("plan", "--json", "--flow=pod-to-pod-ip").output)
    assert set(data) == {"checks", "skips", "pods", "services"}
    check = next(check for check in data["checks"] if check["id"] == CHECK)
    assert check["expectation"]["expected"]["outcome"] == "connected"
    assert len(check["members"]) == 4


@pytest.mark.usefixtures("stated")
def test_discover_says_what_is_unknown_and_why() -> None:
    """Known facts come with their origin, unknown ones with the reason."""
    shown = nettests("discover").output
    assert "cluster domain   cluster.local  (test)" in shown
    assert "CNI plugin       unknown: not part of this test" in shown
    assert "  build            17763.1339  (test)" in shown


@pytest.mark.usefixtures("stated")
def test_discover_as_json_is_the_facts() -> None:
    """--json carries every fact with its origin."""
    data = json.loads(nettests("discover", "--json").output)
    assert data["cluster_domain"] == {"value": "cluster.local", "origin": "test"}


@pytest.mark.usefixtures("stated")
def test_explain_shows_claim_expectation_and_sources(tmp_path: Path) -> None:
    """A check is explained by its claim, the entry that decides, its facts and its document."""
    manifest = tmp_path / "site.yaml"
    manifest.write_text(
        """
apiVersion: nettests.dev/v1alpha1
kind: LimitationManifest
layer: cni
limitations:
  - id: one-way-street
    summary: Windows pods do not reach Linux pods.
    when: {source: {os: windows}, target: {os: linux}}
    flows: [pod-to-pod-ip]
    facts: [dns-fqdn]
    expected: {outcome: timed_out}
    mechanism: A test.
    category: by-design
    sources: [{document: A guide, section: "7"}]
"""
    )
    shown = nettests("explain", CHECK, f"--limitations={manifest}").output
    assert "claim     connected, source = client-pod" in shown
    assert "expected  timed_out" in shown
    assert "because   one-way-street (cni, by-design)" in shown
    assert "source: A guide §7" in shown
    assert "fact      flow-pod-pod-ip-cross-node: A Pod reaches Pods on other nodes" in shown
    assert "fact      dns-fqdn: " in shown
    assert f"{manifest}:6" in shown
    assert "✓ source runs windows" in shown


@pytest.mark.usefixtures("stated")
def test_explain_says_what_settles_an_open_outcome_and_how_its_bug_shows(tmp_path: Path) -> None:
    """Of an open entry what would decide, of a known bug what is seen where it is there."""
    manifest = tmp_path / "site.yaml"
    manifest.write_text(
        """
apiVersion: nettests.dev/v1alpha1
kind: LimitationManifest
layer: cni
limitations:
  - id: sometimes-lost
    summary: Some updates lose what Windows pods send to Linux pods.
    when: {source: {os: windows}, target: {os: linux}}
    flows: [pod-to-pod-ip]
    expected: unspecified
    settled_by: a list of the updates
    when_present: {outcome: [timed_out, refused]}
    mechanism: A test.
    category: bug
    sources: [{document: A report}]
"""
    )
    shown = nettests("explain", CHECK, f"--limitations={manifest}").output
    assert "  settled   sometimes-lost: a list of the updates\n" in shown
    assert "  bug       sometimes-lost shows as refused or timed_out\n" in shown


@pytest.mark.usefixtures("stated")
def test_explain_tells_why_a_check_is_skipped() -> None:
    """A planned skip is explained by its reason."""
    where = "nodeport-from-external/external/linux-1/outside/udp/backend-local"
    assert "skipped: the external vantage" in nettests("explain", where).output


@pytest.mark.usefixtures("stated")
def test_explain_lists_near_misses() -> None:
    """An unknown check is refused with the ids that come close."""
    shown = nettests("explain", CHECK.replace("tcp", "tpc"))
    assert shown.exit_code == 4
    assert f"did you mean '{CHECK}'" in shown.output


def test_errors_are_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unusable cluster ends a command with its message and hint, and no traceback."""

    def read(options: RunOptions, profile: ClusterProfile) -> ClusterFacts:
        raise ClusterError("the token has expired", hint="log in again")

    monkeypatch.setattr(discover_commands, "read_facts", read)
    shown = nettests("plan")
    assert shown.exit_code == 7
    assert shown.output == "Error: the token has expired\n  → log in again\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_command_that_is_ended_cleans_up(
    monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    """Whoever ends it (a person, a service manager, a terminal that closes), what it holds is let go of."""
    left: list[str] = []

    def read(*_: object) -> ClusterFacts:
        try:
            signal.raise_signal(number)
        finally:
            left.append("cleaned up")
        raise AssertionError("the signal was not heeded")

    inherited = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup has it ignored
    try:
        monkeypatch.setattr(discover_commands, "read_facts", read)
        done = nettests("discover")
    finally:
        signal.signal(signal.SIGHUP, inherited)
    assert (done.exit_code, left) == (2, ["cleaned up"])
    assert "Error: interrupted" in done.output


def test_an_unknown_flow_is_refused_before_a_cluster_is_contacted() -> None:
    """Wrong input costs no lab and no connection."""
    shown = nettests("plan", "--lab", "--flow=pod-to-pod-op")
    assert shown.exit_code == 4
    assert "did you mean 'pod-to-pod-ip'" in shown.output


def test_a_broken_manifest_is_refused_before_a_cluster_is_contacted(tmp_path: Path) -> None:
    """The file, the line and the key are named."""
    manifest = tmp_path / "broken.yaml"
    manifest.write_text("apiVersion: nettests.dev/v1alpha1\nkind: LimitationManifest\nlair: base\n")
    shown = nettests("plan", "--lab", f"--limitations={manifest}")
    assert shown.exit_code == 4
    assert f"{manifest}:3" in shown.output
    assert "layer" in shown.output


def test_a_lab_is_not_combined_with_a_cluster() -> None:
    """--lab brings its own kubeconfig."""
    shown = nettests("plan", "--lab", "--kubeconfig=x")
    assert shown.exit_code == 2
    assert "--lab brings its own cluster" in shown.output


@pytest.mark.parametrize(
    ("arguments", "profile"),
    [(("--lab",), ""), (("--lab=linux",), "linux"), (("--lab", "--json"), "")],
)
def test_the_lab_option_takes_a_profile_or_none(
    arguments: tuple[str, ...], profile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--lab alone leaves the choice to the lab; --lab=PROFILE names one."""
    wanted = []

    def refuse(name: str) -> None:
        wanted.append(name)
        raise ClusterError("no lab in this test")

    monkeypatch.setattr("nettests.cli.options.lab", refuse)
    assert nettests("plan", *arguments).exit_code == 7
    assert wanted == [profile]


def test_a_trace_needs_its_extra_before_it_starts_a_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a lab to read that a library is missing; the step to install it is there."""
    monkeypatch.setattr("nettests.capture.captures.find_spec", lambda _: None)
    monkeypatch.setattr("nettests.cli.options.lab", lambda _: pytest.fail("a lab was started"))
    done = nettests("trace", CHECK, "--lab")
    assert done.exit_code == 4
    assert 'pip install "nettests[packets]"' in done.output


def test_lab_passes_everything_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """``nettests lab`` hands its arguments, --help included, to the lab and returns its exit code."""
    script = tmp_path / "lab.py"
    script.write_text("import sys\nsys.exit(0 if sys.argv[1:] == ['up', '--help', '-x'] else 9)\n")
    # The package knows the command under the name of its module.
    module = import_module("nettests.cli.lab_command")
    monkeypatch.setattr(module, "COMMAND", (sys.executable, str(script)))
    assert nettests("lab", "up", "--help", "-x").exit_code == 0
    assert nettests("lab", "down").exit_code == 9


def run(
    folder: Path, *arguments: str, to_pytest: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Run ``nettests run`` on canned answers, in a folder of its own."""
    command = [sys.executable, "-m", "nettests", "run", "--context=stated", *arguments]
    return subprocess.run(
        [*command, "--", "-ptests.plugin.standin", *to_pytest],
        cwd=folder,
        env={"PATH": "/usr/bin", "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_run_ends_with_the_report(tmp_path: Path, workers: tuple[str, ...]) -> None:
    """A run prints plain stages when piped, a short summary, and nothing of pytest's."""
    done = run(tmp_path, "--flow=pod-to-pod-ip", *workers)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "discover"
    assert len(lines) <= 20
    assert lines[-1].startswith("report: reports/")
    assert (tmp_path / lines[-1].removeprefix("report: ")).is_file()
    assert (tmp_path / "reports" / "latest").is_symlink()


def test_the_page_of_a_second_run_says_what_changed_since_the_first(tmp_path: Path) -> None:
    """The first one has nothing to be compared with, and one of other flows is no run before it."""
    folders = []
    for flow in ("pod-to-pod-ip", "pod-to-service-clusterip", "pod-to-pod-ip"):
        assert run(tmp_path, "--quiet", f"--flow={flow}").returncode in {0, 6}
        folders.append((tmp_path / "reports" / "latest").resolve())
    first, other, second = folders
    page = (second / "report.html").read_text()
    assert "Since the run before" in page
    assert f'href="../{first.name}/report.html"' in page
    assert "No check changed" in page
    for alone in (first, other):
        assert "Since the run before" not in (alone / "report.html").read_text()


def test_quiet_says_only_the_result(tmp_path: Path) -> None:
    """--quiet leaves the sentence and the report's path."""
    done = run(tmp_path, "--quiet", "--flow=pod-to-pod-ip")
    said = [line for line in done.stdout.splitlines() if line]
    assert said[0].startswith("This cluster behaves as documented")
    assert len(said) == 2


def test_run_says_why_it_cannot_start(tmp_path: Path) -> None:
    """Wrong input ends with a sentence, a hint and a report that says the same."""
    done = run(tmp_path, "--flow=pod-to-pod-op")
    assert done.returncode == 4
    assert done.stderr.startswith("Error: no suite declares a flow 'pod-to-pod-op'\n  → did you")
    (folder,) = (tmp_path / "reports").iterdir()  # and no ``latest``
    assert "no suite declares" in (folder / "junit.xml").read_text()


def test_a_selection_of_nothing_is_said(tmp_path: Path) -> None:
    """Arguments for pytest that leave no check are not a silent success."""
    done = run(tmp_path, to_pytest=("-knothing",))
    assert done.returncode == 5
    assert "no check was selected" in done.stdout


def test_an_unexpected_error_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says where it arose and how to see the traceback; its exit code is its own, not that of a failed check."""
    monkeypatch.setattr("nettests.cli.discover_commands.connect", lambda *_: "".index("x"))
    monkeypatch.setenv("NETTESTS_DEBUG", "")
    shown = CliRunner().invoke(main, ["discover"])
    assert shown.exit_code == ExitCode.INTERNAL_ERROR
    assert "nettests failed in discover_commands" in shown.output
    assert "ValueError: substring not found" in shown.output
    assert "--debug" in shown.output
    assert "Traceback" not in shown.output
    debugged = CliRunner().invoke(main, ["--debug", "discover"])
    assert isinstance(debugged.exception, ValueError)
