"""The bases for kustomize: what ``nettests job render`` prints, and what kubectl makes of an overlay."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts import kustomize
from tests.job.made import objects
from tests.packaging.environments import ROOT

BASES = sorted(kustomize.bases())
needs_kubectl = pytest.mark.skipif(
    shutil.which("kubectl") is None, reason="no kubectl is installed"
)


def built(folder: Path) -> list[dict[str, Any]]:
    """What kubectl makes of a folder."""
    done = subprocess.run(["kubectl", "kustomize", str(folder)], capture_output=True, text=True, timeout=60, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return list(yaml.safe_load_all(done.stdout))


def by_name(items: list[dict[str, Any]]) -> dict[tuple[str, str, str], dict[str, Any]]:
    return {(one["kind"], one["metadata"].get("namespace", ""), one["metadata"]["name"]): one for one in items}  # fmt: skip


def test_the_bases_are_those_of_this_tree() -> None:
    """``python scripts/kustomize.py`` was run after the last change of roles or Jobs."""
    made = kustomize.files()
    there = {path for path in kustomize.FOLDER.rglob("*") if path.is_file()}
    assert there == made.keys()
    assert [path.relative_to(ROOT) for path, text in made.items() if path.read_text("utf-8") != text] == []  # fmt: skip


@needs_kubectl
@pytest.mark.parametrize("base", BASES)
def test_kubectl_builds_each_base(base: str) -> None:
    """With every object of those below it, once."""
    below, own = kustomize.bases()[base]
    expected = [*own]
    for one in below:
        expected += kustomize.bases()[one.removeprefix("../")][1]
    assert by_name(built(kustomize.FOLDER / base)) == by_name(expected)


@needs_kubectl
def test_an_overlay_names_the_image(tmp_path: Path) -> None:
    """And the result is what ``render`` prints for it."""
    shutil.copytree(kustomize.FOLDER, tmp_path / "bases")
    overlay = tmp_path / "overlay"
    overlay.mkdir()
    (overlay / "kustomization.yaml").write_text(
        "resources: [../bases/full-cronjob]\n"
        "images: [{name: nettests, newName: registry.example/nettests, newTag: 0.1.0}]\n"
    )
    assert by_name(built(overlay)) == by_name(objects(schedule=kustomize.SCHEDULE))
