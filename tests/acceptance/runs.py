"""Whole runs as a user starts them: ``nettests run --lab=PROFILE`` once a profile, shared by the tests.

The command line is the only thing used here; nothing of the harness or the lab is imported to run it.
"""

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.acceptance.command import nettests
from tests.acceptance.labs import UpLab

PROFILES = ("linux", "win2019-l2bridge", "win2022-l2bridge-dsr", "win2019-overlay")
"""Run whole."""

BY_DRIVER = (
    "node_to_pod or nodeport_source_address or nodeport_from_pod_source_address or two_target_ports "
    "or no_endpoints or host_process_backend or terminating_backends"
)
"""Flows that turn out differently with Open vSwitch, by overlay, or both."""

SELECTED = {
    "win2022-overlay-dsr": f"{BY_DRIVER} or dsr_source_address or session_affinity",
    "azure-l2tunnel": "dsr_source_address or icmp_egress or hostport_from_own_node",
    "win2022-overlay-services": f"{BY_DRIVER} or dsr_source_address or session_affinity "
    "or kube_proxy_on_host or hns_ or closed_port or component_configuration",
    "antrea-transparent": f"{BY_DRIVER} or node_to_service_clusterip or icmp_egress "
    "or kube_proxy_on_host",
    "win2022-l2bridge-dualstack": "dual_stack or pod_to_pod_ip or icmp_pod_to_pod "
    "or hostport_from_other_node",
    "calico-overlay-dsr": "dsr_source_address or node_to_pod or windows_plugin or windows_cni",
    "antrea-geneve": "pod_to_pod_ip or node_to_pod or icmp_egress or path_mtu",
    "azure-overlay-23h2": "windows_image_build or dsr_source_address or icmp_pod_to_node or windows_cni",
    "calico-bgp-l2bridge": "windows_plugin or windows_cni or dsr_source_address or node_to_pod",
    "eks-vpc-bridge": "windows_plugin or windows_cni or hns or dsr_source_address",
    "hns-ipam-l2bridge": "windows_cni or pod_to_pod_ip",
    "ovn-hybrid-overlay": "hns or windows_cni or service_hairpin or node_to_pod or dsr_source_address",
    "userspace-l2bridge": "dsr_source_address or service_no_endpoints or nodeport_no_endpoints",
    "mixed-builds": "session_affinity or nodeport_from_local_node",
}
"""Run in part: flows in which these profiles differ from those above, as ``-k`` selects them."""


BY_DAY = frozenset({"win2019-l2bridge"})
"""Run whenever the tests run; the rest at night, because a whole run takes minutes where cores are slow."""


def by_night(*profiles: str) -> list[Any]:
    """Return parameters of profiles, those that are not run by day marked ``nightly``."""
    marks = pytest.mark.nightly
    return [one if one in BY_DAY else pytest.param(one, marks=marks) for one in profiles]


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRun:
    """One finished run: its exit code, what it printed, and its documents."""

    profile: str
    exit_code: int
    printed: str
    directory: Path

    @property
    def results(self) -> dict[str, Any]:
        """The parsed ``results.json``."""
        parsed: dict[str, Any] = json.loads((self.directory / "results.json").read_text())
        return parsed

    @property
    def records(self) -> list[dict[str, Any]]:
        """The records of ``journal.jsonl``, in order."""
        lines = (self.directory / "journal.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    @property
    def verdicts(self) -> dict[str, str]:
        """Verdict by check id."""
        return {check["id"]: check["verdict"] for check in self.results["checks"]}

    def flow(self, name: str) -> dict[str, dict[str, Any]]:
        """The checks of one flow by id, skipped ones left out."""
        return {
            check["id"]: check
            for check in self.results["checks"]
            if check["flow"] == name and check["verdict"] != "skipped"
        }

    def by_source(self, flow: str) -> dict[str, set[str]]:
        """The verdicts of all members of a flow's checks by the node of the source."""
        found: dict[str, set[str]] = {}
        for check in self.flow(flow).values():
            for label, verdict in members_of(check).items():
                found.setdefault(label.partition(" ")[0], set()).add(verdict)
        return found


def members_of(check: dict[str, Any]) -> dict[str, str]:
    """Return the verdicts of a check's members by label; one alone is the check itself, and has its source's node."""
    if "members" not in check:
        return {check["source"]["node"]: check["verdict"]}
    deviating = {one["member"]: one["verdict"] for one in check["members"]["deviating"]}
    return deviating | {
        label: group["verdict"]
        for group in check["members"]["others"]
        for label in group["members"]
    }


HASTY = "timing: {convergence: 30, failures: 1}\n"
"""Less patience: 30 s to converge, as Services of a few flows do on slow cores; one negative answer."""

BROKEN = "timing: {convergence: 10, failures: 1}\n"
"""For runs in which a Service never converges, and which wait for it: the others took 1.3 s at most."""


def merged(profile: str, changes: str) -> str:
    """Return a cluster profile with changes: sections that both have keep the keys of both."""
    yaml = YAML(typ="safe")
    stated: dict[str, Any] = yaml.load(profile)
    for key, value in (yaml.load(changes) or {}).items():
        stated[key] = {**stated.get(key, {}), **value}
    text = io.StringIO()
    yaml.dump(stated, text)
    return text.getvalue()


def run_on(up: UpLab, directory: Path, *arguments: str, timing: str = HASTY) -> FinishedRun:
    """Run against a lab that is already up; ``timing`` is merged into its cluster profile."""
    directory.mkdir(parents=True, exist_ok=True)
    profile = directory / "cluster-profile.yaml"
    profile.write_text(merged(Path(up.cluster_profile).read_text(), timing))
    done = nettests(
        "run",
        f"--kubeconfig={up.kubeconfig}",
        f"--cluster-profile={profile}",
        f"--report-dir={directory}",
        "--quiet",
        *arguments,
    )
    return FinishedRun(
        profile=up.profile,
        exit_code=done.returncode,
        printed=done.stdout + done.stderr,
        directory=directory / "latest",
    )


class Runs:
    """Finished runs by profile, made once a session; in part where ``SELECTED`` says so."""

    def __init__(self, paths: pytest.TempPathFactory) -> None:
        self._paths = paths
        self._made: dict[str, FinishedRun] = {}

    def __getitem__(self, profile: str) -> FinishedRun:
        if profile not in self._made:
            directory = self._paths.mktemp(profile)
            selected = ["--", "-k", SELECTED[profile]] if profile in SELECTED else []
            done = nettests("run", f"--lab={profile}", f"--report-dir={directory}", *selected)
            self._made[profile] = FinishedRun(
                profile=profile,
                exit_code=done.returncode,
                printed=done.stdout + done.stderr,
                directory=directory / "latest",
            )
        return self._made[profile]
