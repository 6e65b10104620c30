"""The rules about what documents support."""

import json

import pytest

from nettests.rules import RULES, Evidence
from nettests.rules.evidence import NothingThereError, UnreadableError
from tests.rules.made import FACTS, found, node


@pytest.mark.parametrize(
    ("build", "kubelet", "conforms"),
    [
        ("10.0.17763.1339", "v1.14.10", True),
        ("10.0.17763.1339", "v1.36.2", True),
        ("10.0.17763.1339", "v1.13.12", False),
        ("10.0.17134.1006", "v1.13.12", True),
        ("10.0.17134.1006", "v1.14.10", False),
        ("10.0.18362.1256", "v1.18.20", True),
        ("10.0.18362.1256", "v1.19.0", False),
        ("10.0.18363.900", "v1.20.0", True),
        ("10.0.18363.900", "v1.21.0", False),
        ("10.0.19041.610", "v1.22.0", True),
        ("10.0.19041.610", "v1.18.0", False),
        ("10.0.19042", "v1.23.17", True),
        ("10.0.20348.3207", "v1.23.0", True),
        ("10.0.20348.3207", "v1.22.17", False),
    ],
)
def test_a_release_supports_the_builds_that_its_documents_name(
    build: str, kubelet: str, conforms: bool
) -> None:
    """First and last release of each are told."""
    made = found("build-supported", {"node": json.dumps(node(build, kubelet))})
    assert made.conforms is conforms
    assert build.split(".")[2] in made.detail


def test_the_span_of_releases_is_told() -> None:
    """A build that was supported for a time has a last release, others have none."""
    old, new = (
        found("build-supported", {"node": json.dumps(node(build))}).detail
        for build in ("10.0.19041.610", "10.0.20348.3207")
    )
    assert "the documents demand Kubernetes 1.19 to 1.22 on build 19041" in old
    assert "the documents demand Kubernetes 1.23 or later on build 20348" in new


@pytest.mark.parametrize("build", ["10.0.25398.1", "10.0.26100.4652"])
def test_a_build_that_no_table_names_is_not_judged(build: str) -> None:
    """Vendors run it; the check is skipped and neither passes nor fails."""
    with pytest.raises(NothingThereError, match="no table of Kubernetes' documents"):
        found("build-supported", {"node": json.dumps(node(build))})


@pytest.mark.parametrize(
    ("runtime", "conforms"),
    [
        ("containerd://1.4.0", True),
        ("containerd://1.3.9", False),
        ("containerd://2.1.9", True),
        ("docker://19.3.14", True),
        ("docker://18.9.9", False),
    ],
)
def test_a_runtime_is_as_new_as_the_documents_want(runtime: str, conforms: bool) -> None:
    """containerd 1.4.0, Docker 19.03."""
    made = found("runtime-version", {"node": json.dumps(node(runtime=runtime))})
    assert made.conforms is conforms
    assert runtime.partition("://")[0] in made.detail


def test_a_runtime_that_no_document_names_is_not_judged() -> None:
    """It is skipped with that reason."""
    with pytest.raises(NothingThereError, match="no document names a release"):
        found("runtime-version", {"node": json.dumps(node(runtime="cri-o://1.30.0"))})


def test_a_node_that_names_no_runtime_is_not_taken_for_one_of_another() -> None:
    """Every kubelet reports one."""
    with pytest.raises(UnreadableError, match="is empty"):
        found("runtime-version", {"node": json.dumps(node(runtime=""))})


@pytest.mark.parametrize(
    ("plugin", "conforms"),
    [
        ("cilium", False),
        ("weave", False),
        ("kube-router", False),
        ("kubenet", False),
        ("flannel", True),
        ("azure-cni", True),
    ],
)
def test_a_plugin_without_an_agent_for_windows_deviates(plugin: str, conforms: bool) -> None:
    """The finding names it, and what lacks an agent."""
    made = found("plugin-for-windows", {"node": json.dumps(node())}, plugin=plugin)
    assert made.conforms is conforms
    assert f"the plugin {plugin}" in made.detail


def test_a_plugin_is_judged_by_windows_nodes_alone() -> None:
    """An agent for Linux is all that a Linux node needs."""
    with pytest.raises(NothingThereError, match="does not say that it runs Windows"):
        found("plugin-for-windows", {"node": json.dumps(node(system="linux"))}, plugin="cilium")


def test_an_unknown_plugin_is_not_judged() -> None:
    """Nothing says that it has no agent."""
    known = {name: value for name, value in FACTS.items() if name != "plugin"}
    with pytest.raises(NothingThereError, match="the network plugin is not known"):
        RULES["plugin-for-windows"].demand(Evidence(texts={}, facts=known))
