"""Rules about builds and updates of Windows: the running one, and those that overlays, DSR and Calico need.

Sources: KEP-5100, Microsoft's pages on updates, Calico's requirements for Windows nodes.
"""

import re

from nettests.model.versions import WindowsBuild
from nettests.model.windows_programs import CMD, node_argv
from nettests.rules import kept
from nettests.rules.evidence import Evidence, Finding, UnreadableError, finding
from nettests.rules.node import NODE
from nettests.rules.readings import ToolOutput
from nettests.rules.rule import rule
from nettests.rules.subjects import CALICO, DSR, OVERLAY

FIRST_OVERLAY = WindowsBuild(17763, 379)
"""KB4489899, of March 2019."""
FIRST_DSR = WindowsBuild(17763, 1432)
"""KB4571748, of August 2020 (8C), which Kubernetes and Calico name; Microsoft once named the update before it (8B)."""
BROKEN = WindowsBuild(20348, 2582)
"""KB5040437, of July 2024."""
MENDED = WindowsBuild(20348, 2762)
"""KB5044281, of October 2024, announced as the fix."""
FIRST_CALICO = {
    17763: WindowsBuild(17763, 1432),
    20348: WindowsBuild(20348, 169),
}
VERSION = ToolOutput(
    name="windows-version", words=node_argv(*CMD, "ver"), keep=kept.lines(r"10\.0\.\d{5}\.\d+")
)


@rule(
    "running-build",
    about=(),
    reads=(NODE, VERSION),
    remedy="restart the kubelet: it reports the build with which it was started",
)
def running_build(evidence: Evidence) -> Finding:
    """The build that the API shows is the one that runs: rules about updates rely on it."""
    text = evidence.text(VERSION)
    # sample: Microsoft Windows [Version 10.0.17763.1339]
    match = re.search(r"10\.0\.\d{5}\.\d+", text)
    if match is None:
        raise UnreadableError(f"ver names no build: {text!r}")
    kernel = str(evidence.object(NODE)["status"]["nodeInfo"]["kernelVersion"])
    return finding(
        match[0] == kernel, match[0], f"what nodeInfo.kernelVersion says, {kernel}", of=1
    )


@rule(
    "update-not-broken",
    about=(),
    reads=(NODE,),
    remedy="install a later cumulative update (KB5044281 or newer) and restart the node",
)
def update_not_broken(evidence: Evidence) -> Finding:
    """The update of July 2024 for Windows Server 2022 broke container networking until that of October."""
    build = build_of(evidence)
    demanded = f"no build from {BROKEN} (KB5040437) to below {MENDED} (KB5044281)"
    return finding(not BROKEN <= build < MENDED, str(build), demanded, of=1)


@rule(
    "overlay-update",
    about=(OVERLAY,),
    reads=(NODE,),
    remedy="install KB4489899 or a later cumulative update",
)
def overlay_update(evidence: Evidence) -> Finding:
    """Overlay networks need KB4489899 on Windows Server 2019."""
    build = build_of(evidence)
    return finding(
        build >= FIRST_OVERLAY, str(build), f"{FIRST_OVERLAY} (KB4489899) or later", of=1
    )


@rule(
    "dsr-update",
    about=(DSR,),
    reads=(NODE,),
    remedy="install KB4571748 or a later cumulative update, or set --enable-dsr=false",
)
def dsr_update(evidence: Evidence) -> Finding:
    """DSR needs an HNS that has it: on Windows Server 2019 an update of August 2020."""
    build = build_of(evidence)
    return finding(build >= FIRST_DSR, str(build), f"{FIRST_DSR} (KB4571748) or later", of=1)


@rule(
    "calico-build",
    about=(CALICO,),
    reads=(NODE,),
    remedy="install KB4571748 or later on Windows Server 2019, a current update on 2022: Calico's "
    "policies need DSR",
)
def calico_build(evidence: Evidence) -> Finding:
    """Calico needs an update of Windows Server 2019 and one of Windows Server 2022."""
    build = build_of(evidence)
    needed = FIRST_CALICO.get(build.build, FIRST_CALICO[17763])
    return finding(build >= needed, str(build), f"{needed} or later for Calico", of=1)


def build_of(evidence: Evidence) -> WindowsBuild:
    """Return the node's build; a rule about updates needs its patch level."""
    build = WindowsBuild.parse(str(evidence.object(NODE)["status"]["nodeInfo"]["kernelVersion"]))
    if not build.patch_known:
        raise UnreadableError(f"the patch level of build {build} is not known")
    return build
