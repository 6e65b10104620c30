"""``nettests catalogue`` and ``nettests lint``: no cluster, lines for people, exit codes for scripts."""

import json
import re
from pathlib import Path

from click.testing import CliRunner, Result

from nettests.cli import main

MANIFEST = """
apiVersion: nettests.dev/v1alpha1
kind: LimitationManifest
layer: cni
limitations:
  - id: one-way-street
    summary: Windows pods do not reach Linux pods.
    flows: [{flow}]
    facts: [{fact}]
    expected: {{outcome: timed_out}}
    mechanism: A test.
    category: by-design
    sources: [{{document: A guide, section: "7", names: timed_out}}]
"""
SUITE = '''
from nettests.model.expectation import Source
from nettests.model.words import TargetKind, VantageKind
from nettests.plan import Matrix, flow


@flow(
    "mine",
    source=VantageKind.POD,
    target=TargetKind.POD_IP,
    matrix=Matrix.PAIRS,
    facts=("flow-pod-pod-nam",),
    sources=(Source(document="A guide", section="7"),),
)
def test_mine(verdict):
    """It works."""
'''


def nettests(*arguments: str | Path) -> Result:
    """Run the command line in this process."""
    return CliRunner().invoke(main, [str(word) for word in arguments])


def manifest(folder: Path, flow: str = "icmp-egress", fact: str = "tcp-udp-all") -> Path:
    """Write a manifest of one entry."""
    file = folder / "mine.yaml"
    file.write_text(MANIFEST.format(flow=flow, fact=fact))
    return file


def test_the_catalogue_lists_facts_with_what_exercises_them() -> None:
    """A fact has its statement and, below, flows and limitations or the reason; totals come last."""
    lines = nettests("catalogue").output.splitlines()
    at = lines.index("  flow-pod-svc-fqdn: A Pod reaches a Service by its fully qualified name.")
    assert "pod-to-service-fqdn" in lines[at + 1]
    assert any(line.strip().startswith("historic: ") for line in lines)
    assert re.match(r"\d{3} facts: ", lines[-1])
    assert "without check or reason" not in lines[-1]


def test_the_catalogue_as_json_has_all_of_it(tmp_path: Path) -> None:
    """--json carries sources and the user's own limitations too."""
    file = manifest(tmp_path, fact="dns-fqdn")
    facts = json.loads(nettests("catalogue", "--json", "--limitations", file).output)
    fact = next(fact for fact in facts if fact["id"] == "dns-fqdn")
    assert "pod-to-service-fqdn" in fact["flows"]
    assert fact["limitations"] == ["one-way-street"]
    assert fact["sources"][0]["document"].startswith("Kubernetes documentation")


def test_an_unknown_fact_is_an_error(tmp_path: Path) -> None:
    """A suite that names a fact which nobody documents is told which one was meant."""
    (tmp_path / "test_mine.py").write_text(SUITE)
    shown = nettests("catalogue", "--suite", tmp_path / "test_mine.py")
    assert shown.exit_code == 4
    assert (
        "flow mine names the unknown fact flow-pod-pod-nam; did you mean 'flow-pod-pod-name'"
        in (shown.output)
    )


def test_lint_finds_nothing_in_what_is_shipped() -> None:
    """The shipped manifests, suites and facts are in order."""
    shown = nettests("lint")
    assert shown.exit_code == 0
    assert re.search(r"\d{3} facts: nothing to repair\n$", shown.output)


def test_lint_names_what_is_wrong_with_a_manifest(tmp_path: Path) -> None:
    """An undeclared flow, an unknown fact and an overlap are told with their places; exit code 1."""
    file = manifest(tmp_path, flow="icmp-egres", fact="tcp-udp-al")
    shown = nettests("lint", file)
    assert shown.exit_code == 1
    assert f"{file}:6: one-way-street covers the flow icmp-egres" in shown.output
    assert (
        f"{file}:6: one-way-street names the unknown fact tcp-udp-al; did you mean" in shown.output
    )
    assert shown.output.endswith(": 2 to repair\n")
    overlap = nettests("lint", manifest(tmp_path, flow="dsr-source-address"))
    assert overlap.exit_code == 1
    assert "can apply to the same check of dsr-source-address" in overlap.output


def test_lint_refuses_what_is_no_manifest(tmp_path: Path) -> None:
    """A broken or missing file ends with 4, its name and what to do."""
    file = tmp_path / "broken.yaml"
    file.write_text("apiVersion: nettests.dev/v1alpha1\nkind: LimitationManifest\nlair: base\n")
    shown = nettests("lint", file)
    assert shown.exit_code == 4
    assert f"{file}:3" in shown.output
    assert nettests("lint", tmp_path / "nosuch.yaml").exit_code == 4
