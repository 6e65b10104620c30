"""Examples in the documents work as written.

A comment above a block says what becomes of it: ``<!-- test: file NAME -->`` writes it to a file,
``<!-- test: run -->`` runs it in a shell, ``<!-- test: copy PATH -->`` fetches a file of the repository, or a
folder to its own place, ``<!-- test: cluster PROFILE -->`` makes ``~/.kube/config`` that of a lab; with ``clusters`` the
document is followed once for each of several. All
examples of one document share a folder, in their order, a home, and labs of their own. A ``console`` block
that is run shows what its commands print: a line ``…`` stands for any others.
"""

import os
import re
import shutil
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import pytest

from nettests.baseline.entries import read_baseline
from nettests.cluster.profile_file import parse_profile
from nettests.conformance.vendor_profile import read_vendor_profile
from nettests.expect import read_manifest, resolve
from nettests.lab.topology import profiles
from nettests.model.document import read_document
from nettests.model.expectation import Expected
from nettests.model.words import Outcome, SourceSeen
from nettests.plan import build, load
from tests.docs.documents import ROOT, Block, blocks, documents, every_block
from tests.facts import cluster_facts

FOLLOWED = [name for name in documents() if any(block.action for block in blocks(name))]
CLUSTERS = {
    name: [
        profile
        for block in blocks(name)
        if block.action == "clusters"
        for profile in block.name.split()
    ]
    for name in FOLLOWED
}
"""The labs on each of which a document is followed, by document."""
SUITE = "docs/guides/writing-a-suite.md"
KINDS = {
    "Baseline": read_baseline,
    "LimitationManifest": read_manifest,
    "ClusterProfile": parse_profile,
    "LabProfile": profiles.read,
    "VendorProfile": read_vendor_profile,
}


class Followed:
    """A reader who types a document's examples in an empty folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        self.folder.mkdir()
        runtime = folder / "runtime"
        runtime.mkdir(mode=0o700)
        self.home = folder / "home"
        (self.home / ".kube").mkdir(parents=True)
        tools = (str(Path(sys.executable).parent), os.environ["PATH"])
        # No example may reach a cluster of the machine.
        inherited = {name: value for name, value in os.environ.items() if name != "KUBECONFIG"}
        self.environment = {
            **inherited,
            "PATH": os.pathsep.join(tools),
            "HOME": str(self.home),
            "NO_COLOR": "1",
            "XDG_RUNTIME_DIR": str(runtime),
        }

    def carry_out(self, block: Block, profile: str = "") -> None:
        """Do what the mark above a block requests; ``profile`` is one of those that ``clusters`` names."""
        if block.action == "copy" and (ROOT / block.name).is_dir():
            shutil.copytree(ROOT / block.name, self.folder / block.name)
        elif block.action in {"cluster", "clusters"}:
            self.shell(f"nettests lab up --name home --profile {profile or block.name} --quiet")
            self.shell('cp "$(nettests lab kubeconfig --name home)" ~/.kube/config')
        elif block.action == "copy":
            shutil.copy(ROOT / block.name, self.folder)
        elif block.action == "file":
            target = self.folder / block.name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text)
        elif block.language == "console":
            for command, shown in transcript(block.text):
                compare(self.shell(command), shown, command)
        else:
            self.shell(block.text)

    def shell(self, text: str) -> list[str]:
        """Run shell text and return the lines that it printed."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            encoding="utf-8",
            errors="backslashreplace",  # Windows' tools print in the code page of their language
            timeout=400,
            check=False,
        )
        assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
        return done.stdout.splitlines()

    def leave(self) -> None:
        """Stop the labs that the examples left."""
        self.shell("nettests lab down --all")


def transcript(text: str) -> list[tuple[str, list[str]]]:
    """Return the commands of a console block, each with the lines shown below it."""
    parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    return [(part.splitlines()[0], part.splitlines()[1:]) for part in parts]


def compare(printed: list[str], shown: list[str], command: str) -> None:
    """Fail unless ``printed`` begins with the lines shown, and ends there unless ``…`` follows."""
    told = list(takewhile(lambda line: line != "…", shown))
    assert printed[: len(told)] == told, command
    if "…" not in shown:
        assert printed[len(told) :] == [], command


@pytest.mark.timeout(1800)  # some follow whole runs, and each command has its own limit
@pytest.mark.parametrize(
    ("document", "profile"),
    [
        pytest.param(name, profile, marks=() if name == "README.md" else pytest.mark.nightly)
        for name in FOLLOWED
        for profile in CLUSTERS[name] or [""]
    ],
)
def test_examples_work_as_written(document: str, profile: str, tmp_path: Path) -> None:
    """Following a document from top to bottom works."""
    spoken = " ".join(block.text for block in blocks(document) if block.action == "run")
    if "kubectl" in spoken and shutil.which("kubectl") is None:
        pytest.skip("kubectl is not installed")
    reader = Followed(tmp_path)
    try:
        for block in blocks(document):
            if block.action:
                reader.carry_out(block, profile)
    finally:
        reader.leave()


@pytest.mark.parametrize(
    ("printed", "shown"), [(["a"], ["b"]), (["a", "b"], ["a"]), (["a"], ["a", "b", "…"])]
)
def test_a_transcript_that_differs_is_refused(printed: list[str], shown: list[str]) -> None:
    """Another line, one more and one fewer are each found."""
    with pytest.raises(AssertionError):
        compare(printed, shown, "true")


@pytest.mark.parametrize("block", every_block("yaml"), ids=lambda block: block.place)
def test_yaml_in_documents_is_valid(block: Block) -> None:
    """Every YAML block names its kind and is accepted as such a file."""
    kind = read_document(block.text, block.place, {}).data["kind"]
    KINDS[kind](block.text, block.place)


@pytest.mark.parametrize(
    "block",
    [block for block in every_block("python") if "nettests.plan" in block.text],
    ids=lambda block: block.place,
)
def test_suites_in_documents_are_suites(block: Block, tmp_path: Path) -> None:
    """Every suite that is shown is found by the registry, beside the shipped ones."""
    file = tmp_path / Path(block.name).name
    file.write_text(block.text)
    own = load([file]).flows
    assert own
    assert set(own) < set(load([ROOT / "suites", file]).flows)


def test_the_vendors_example_is_expected_to_show_what_the_guide_says(tmp_path: Path) -> None:
    """Suite and manifest of the guide, planned on known facts, give the claim and the limitation."""
    made = {block.name: block for block in blocks(SUITE) if block.action == "file"}
    file = tmp_path / "test_acme.py"
    file.write_text(made["acme/test_acme.py"].text)
    facts = cluster_facts("win2019-l2bridge")
    plan = build(facts, load([file]).flows)
    manifest = read_manifest(made["acme/limitations.yaml"].text, "limitations.yaml")
    found = resolve(plan.checks, facts, [manifest])
    assert {check: expectation.expected for check, expectation in found.items()} == {
        f"acme-service-source/{pool}/{pool}/same-node/tcp{member}": Expected(
            outcome=Outcome.CONNECTED, source_seen=seen
        )
        for pool, node, seen in (
            ("linux-1", "linux", SourceSeen.CLIENT_POD),
            ("windows-1", "win", SourceSeen.CLIENT_NODE),
        )
        for member in ("", *(f"#{node}-{number} → {node}-{number}" for number in (1, 2)))
    }
