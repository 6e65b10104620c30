"""The ready cluster profiles: each is one, is found by its name, and states only what the guide of its name is about."""

import os
import re
from pathlib import Path

import pytest

from nettests.cluster.profile_file import profile_path, read_profile, ready_profiles
from nettests.errors import ManifestError
from nettests.model.cluster_profile import OUTSIDE_MESHES
from tests.docs.documents import ROOT

READY = ready_profiles()


@pytest.mark.parametrize("name", READY)
def test_a_ready_profile_states_a_platform_and_a_plugin(name: str) -> None:
    """By these preflight finds it; no other profile states the same, and its guide names it."""
    profile = read_profile(Path(name))
    stated = profile.facts
    assert stated.platform
    assert stated.cni_plugin
    same = [
        other
        for other, file in READY.items()
        if read_profile(file).facts == stated and other != name
    ]
    assert same == []
    (guide,) = re.findall(r"docs/guides/\w+\.md", READY[name].read_text("utf-8").splitlines()[0])
    assert f"--cluster-profile={name}" in (ROOT / guide).read_text("utf-8")
    assert Path(guide).stem == name.partition("-")[0]


def test_a_file_goes_before_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has a file called like a ready profile means the file; a path never means a name."""
    monkeypatch.chdir(tmp_path)
    assert profile_path(Path("aks")) == READY["aks"]
    Path("aks").write_text("")
    assert profile_path(Path("aks")) == Path("aks")
    assert profile_path(Path("gke.yaml")) == Path("gke.yaml")
    assert profile_path(Path(f"x{os.sep}gke")) == Path(f"x{os.sep}gke")


def test_a_wrong_name_is_answered_with_near_ones() -> None:
    """The message says that a file was looked for, too."""
    with pytest.raises(ManifestError, match="neither a file here") as caught:
        read_profile(Path("kubeadm-calic"))
    assert "'kubeadm-calico'" in caught.value.hint


def test_labels_of_a_profile_go_before_those_that_opt_out_of_meshes(tmp_path: Path) -> None:
    """Whoever wants a sidecar says so; the others stay out."""
    file = tmp_path / "p.yaml"
    file.write_text(
        "apiVersion: nettests.dev/v1alpha1\nkind: ClusterProfile\n"
        'pods: {labels: {sidecar.istio.io/inject: "true"}}\n'
    )
    pods = read_profile(file).pods
    assert pods.labels == {**OUTSIDE_MESHES["labels"], "sidecar.istio.io/inject": "true"}
    assert pods.annotations == OUTSIDE_MESHES["annotations"]
