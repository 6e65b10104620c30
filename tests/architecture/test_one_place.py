"""A fact is spelled in one module of the harness, and the others read it there.

The lab is another product, which has to spell all of it once more; tests say what they want to see in their own words,
and so do documents and docstrings.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.test_contracts import ROOT, modules, relative

LAB = ROOT / "nettests" / "lab"
MODEL = "nettests/model/"

TEXTS = {
    "keys of our own": (r"nettests\.dev", MODEL + "labels.py"),
    "names in the cluster's DNS": (r"\.svc\.|cluster\.local", MODEL + "dns_names.py"),
    "the probe image": (r"e2e-test-images/", MODEL + "cluster_profile.py"),
    "what is said of a slip of the pen": (r"did you mean", MODEL + "nearest.py"),
    "names of a run's documents": (
        r"^(journal\.jsonl|results\.json|junit\.xml|report\.html|summary\.md)$",
        MODEL + "run_folder.py",
    ),
    "PowerShell's switches": (r"-NonInteractive", MODEL + "powershell.py"),
}
"""What a text of the harness may hold in one module alone."""
NUMBERS = {
    "VXLAN's ports": ({4789, 8472}, MODEL + "ports.py"),
    "kube-proxy's ports": ({10249, 10256}, MODEL + "ports.py"),
    "the range of NodePorts": ({30000, 32767, 32768}, MODEL + "ports.py"),
}
# samples: nettests.dev/run, node.kubernetes.io/windows-build
KEY = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]+/[\w.-]+")


def constants(path: Path) -> Iterator[ast.Constant]:
    """Yield the texts and numbers of a module that are no docstrings."""
    tree = ast.parse(path.read_text("utf-8"))
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in said:
            yield node


def harness() -> list[Path]:
    every = modules("nettests", "suites", "scripts")
    return [path for path in every if not path.is_relative_to(LAB)]


@pytest.mark.parametrize(("pattern", "home"), TEXTS.values(), ids=TEXTS)
def test_a_text_has_one_home(pattern: str, home: str) -> None:
    """No other module of the harness spells it, and its own does."""
    found = {
        relative(path)
        for path in harness()
        for node in constants(path)
        if isinstance(node.value, str) and re.search(pattern, node.value)
    }
    assert found == {home}


@pytest.mark.parametrize(("numbers", "home"), NUMBERS.values(), ids=NUMBERS)
def test_a_number_has_one_home(numbers: set[int], home: str) -> None:
    """No other module of the harness spells it, as a number or in a text; ids of facts may end with it."""
    word = re.compile(rf"(?<![\d.:-])(?:{'|'.join(map(str, numbers))})(?![\d.])")
    found = {
        relative(path)
        for path in harness()
        for node in constants(path)
        if (isinstance(node.value, str) and word.search(node.value))
        or (type(node.value) is int and node.value in numbers)
    }
    assert found == {home}


def test_a_key_of_labels_and_annotations_has_one_home() -> None:
    """Whatever looks like such a key is spelled in one module of the harness."""
    homes = defaultdict(set)
    for path in harness():
        for node in constants(path):
            if isinstance(node.value, str) and KEY.fullmatch(node.value):
                homes[node.value].add(relative(path))
    assert homes
    assert {key: places for key, places in homes.items() if len(places) > 1} == {}


def test_check_ids_are_taken_apart_in_one_place() -> None:
    """Whoever wants a part of an id probes the grammar for it."""
    apart = re.compile(r"(?:\.id|\bcheck_id|\.path)\.(?:split|r?partition)\(")
    found = {relative(path) for path in harness() if apart.search(path.read_text("utf-8"))}
    assert found == set()
