"""Which Pod of the run never became Ready, or was not created, and what to do: read from the reason of an unknown check.

Used by ``advice`` and by the report's incidents. The first words are those of ``probes.deploy``; the rest is what
``model.pod_problem`` made of the kubelet's, the runtime's or the scheduler's own words, or the API server's refusal.
"""

import re
from dataclasses import dataclass

from nettests.judge.refusals import AFTER_REFUSAL, Refusal, bare, refusal_of, shown

_NOT_STARTED = re.compile(
    # sample: pod server-windows-1-1 is not Ready: container hostname: ImagePullBackOff: failed to pull and unpack image "…": no match …
    # sample: no Pod of this run started on win-1: pod hostport-windows-1-1 is not Ready: not scheduled: 0/4 nodes …
    r"(?P<none>no Pod of this run .*?started on \S+: )?\bpod (?P<pod>\S+) is not Ready: (?P<reason>.*)",
    re.DOTALL,
)
_NOT_CREATED = re.compile(
    # sample: pod s-1 does not stand: Pod s-1 was not created: POST /api/v1/namespaces/x/pods: 403 Forbidden: pods "s-1" is
    #         forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2
    # sample: Pod s-1 was not created: POST …: 500 InternalError: Internal error occurred: failed calling webhook "a.b": …
    # sample: attempt 1: a Pod of the DaemonSet was refused: Error creating: pods "x-1" is forbidden: exceeded quota: small, …
    r"\b(?:Pod \S+ was not created|a Pod of the \w+ was refused): "
    r"(?:\S+ \S+: \d{3} \w*: |Error creating: )?(?P<message>.+)",
    re.DOTALL,
)
_STEPS = (
    # sample: ImagePullBackOff: failed to pull and unpack image "r/agnhost:2.63.0": no match for platform in manifest: not found
    (
        r"no match for platform|no matching manifest|incompatible with|does not match the host operating system|on this platform",
        (
            "compare the node's build (`kubectl get node -o wide`) with those in the image's manifest list (`docker manifest "
            "inspect`); if it is the sandbox that fails, with the pause image of containerd's configuration"
        ),
    ),
    # sample: … unexpected status code https://…: 429 Too Many Requests - Server message: toomanyrequests: You have reached …
    (
        r"toomanyrequests|\b429\b",
        "the registry limits pulls: give credentials (images.pullSecrets of the cluster profile), or name a mirror (images.registry)",
    ),
    # samples: … pull access denied … no basic auth credentials, … 401 Unauthorized, … 403 Forbidden
    (
        r"(?:ErrImagePull|ImagePullBackOff): .*(?:authoriz|access denied|\b40[13]\b|basic auth)",
        "the registry wants credentials, or refuses these (images.pullSecrets of the cluster profile)",
    ),
    # samples: hcsshim::ImportLayer failed in Win32: …, There is not enough space on the disk, no space left on device
    (
        r"ImportLayer|failed to (?:register|extract) layer|not enough space|no space left",
        (
            "the image's layers cannot be unpacked there: look at the node's free disk, remove what an aborted pull left (`crictl "
            "rmi`), and pull again (`crictl pull`)"
        ),
    ),
    (
        r"ErrImagePull|ImagePullBackOff|ErrImageNeverPull|InvalidImageName",
        "whether its node reaches the registry, and pulls the image (`crictl pull`)",
    ),
    # samples: … The paging file is too small for this operation to complete., 0xc000012d STATUS_COMMITMENT_LIMIT, OOMKilled
    (
        r"paging file|0x800705af|STATUS_COMMITMENT_LIMIT|STATUS_NO_MEMORY|OOMKilled|[Nn]ot enough memory",
        "the node lacks memory: compare its commit charge and paging file with the limits of its Pods",
    ),
    # samples: not scheduled: 0/2 nodes are available: … untolerated taint {os: windows}, 6 Insufficient vpc.amazonaws.com/PrivateIPv4Address
    (
        r"not scheduled: .*Insufficient vpc\.",
        (
            "the node offers no address for such a Pod: see the VPC resource controller, enable-windows-ipam of amazon-vpc-cni, and "
            "the addresses that its subnet has left"
        ),
    ),
    (
        r"not scheduled: |Unschedulable",
        "compare requests with what the node has free, and its taints with pods.tolerations of the cluster profile",
    ),
    # samples: plugin type="nat" failed (add): …, NetworkPlugin cni failed …, … attach namespace failed., hcnCreateEndpoint failed
    (
        r"plugin type=|\bcni\b|CNI|network plugin|NetworkPlugin|NetworkNotReady|attach namespace|hcn[A-Z]\w+|\bhns|HNS",
        (
            "its network plugin fails: read the log of the plugin's agent on that node, and on Windows compare its configuration "
            "with the HNS networks and endpoints (Get-HnsNetwork, Get-HnsEndpoint)"
        ),
    ),
    # samples: hcs::CreateComputeSystem: …, FailedCreatePodSandBox: context deadline exceeded
    (
        r"FailedCreatePodSandBox|hcs(?:shim)?::|shim",
        (
            "the runtime makes no sandbox: read containerd's log on that node, on Windows also the events of its Host Compute Service, "
            "and see how busy it is"
        ),
    ),
    # sample: FailedMount: MountVolume.SetUp failed for volume "kube-api-access-x" : chown c:\…: not supported by windows
    (
        r"FailedMount|FailedAttachVolume|MountVolume",
        "a volume of it is not set up: read the kubelet's log on that node",
    ),
    # sample: CrashLoopBackOff: Error, exit code -1073741515 (0xc0000135 STATUS_DLL_NOT_FOUND: …)
    (
        r"exit code|CrashLoopBackOff|StartError|RunContainerError",
        "read what it wrote last (`kubectl logs --previous`), and compare its image with the node's build",
    ),
)
"""What to look at for a cause, the more exact one first."""
# sample: init container istio-init: ImagePullBackOff: …
_INIT = re.compile(r"init container (?P<name>\S+): ")


@dataclass(frozen=True, slots=True)
class NotStarted:
    """A Pod of the run, and why it did not become Ready; ``of_node``: no other Pod of the run started on its node."""

    pod: str
    reason: str
    of_node: bool = False

    @property
    def next_step(self) -> str:
        """What to do about it."""
        step = f"see why the Pod does not start (`kubectl describe pod {self.pod}` while a run is under way)"
        if init := _INIT.match(self.reason):
            step = (
                f"{step}; nettests has no init container: {init['name']} comes from an injector, from which pods.labels or "
                'pods.annotations of the cluster profile exempt Pods (sidecar.istio.io/inject: "false")'
            )
        cause = next((then for text, then in _STEPS if re.search(text, self.reason)), "")
        return f"{step}; {cause}" if cause else f"{step}, and run again once such Pods start there"


def not_started(why: str) -> NotStarted | None:
    """Return the Pod that never became Ready, if that is why the check is unknown."""
    match = _NOT_STARTED.search(why)
    if match is None:
        return None
    return NotStarted(match["pod"], match["reason"].strip(), of_node=match["none"] is not None)


def not_created(why: str) -> Refusal | None:
    """Return who refused a Pod of the run, if that is why the check is unknown."""
    match = _NOT_CREATED.search(why)
    if match is None:
        return None
    return refusal_of(match["message"]) or Refusal(shown(bare(match["message"])), AFTER_REFUSAL)
