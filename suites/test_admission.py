"""What the API server makes of Windows pods: fields that an OS rules out are rejected, the others not.

Asked by dry run: nothing is stored. A rejection counts only if it names the field, and beside the
acceptance of the same pod without it.
"""

from nettests.model.expectation import Source
from nettests.model.verdict import Judgement
from nettests.model.words import Question, TargetKind, VantageKind
from nettests.plan import Matrix, cases, flow

PODS = Source(
    document="Kubernetes documentation, Windows containers in Kubernetes",
    section="Field compatibility for pod specifications",
    address="https://kubernetes.io/docs/concepts/windows/intro/",
)
POD_OS = Source(document="KEP-2802, Identify Windows pods", section="Design Details")

POD_FIELDS = (
    cases.rejected("hostPID", cases.pod(hostPID=True), field="spec.hostPID"),
    cases.rejected("hostIPC", cases.pod(hostIPC=True), field="spec.hostIPC"),
    cases.rejected(
        "shareProcessNamespace",
        cases.pod(shareProcessNamespace=True),
        field="spec.shareProcessNamespace",
    ),
    *(
        cases.rejected(
            f"securityContext.{name}",
            cases.pod(securityContext={name: value}),
            field=f"spec.securityContext.{name}",
        )
        for name, value in (
            ("seLinuxOptions", {"level": "s0"}),
            ("seccompProfile", {"type": "RuntimeDefault"}),
            ("fsGroup", 1),
            ("fsGroupChangePolicy", "Always"),
            ("sysctls", [{"name": "net.ipv4.ip_unprivileged_port_start", "value": "0"}]),
            ("runAsUser", 1),
            ("runAsGroup", 1),
            ("supplementalGroups", [1]),
        )
    ),
)


@flow(
    "windows-pod-fields",
    source=VantageKind.API,
    target=TargetKind.API_SERVER,
    matrix=Matrix.CLUSTER,
    question=Question.ADMIT,
    cases=POD_FIELDS,
    facts=("podos-forbidden-pod", "plat-pod-os-field-api"),
    sources=(PODS, POD_OS),
)
def test_windows_pod_fields(verdict: Judgement) -> None:
    """A pod for Windows that sets a field of Linux is rejected, and the rejection names the field."""
    assert verdict.accepted, verdict.message
