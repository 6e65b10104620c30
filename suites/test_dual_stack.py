"""What clusters with two IP families promise: Pods and Services have addresses of both."""

from nettests.model.expectation import Source
from nettests.model.words import Protocol, Question, TargetKind, VantageKind
from nettests.plan import Backing, Matrix, ServiceSettings, cases, flow

DUAL_STACK = Source(
    document="Kubernetes documentation, IPv4/IPv6 dual-stack",
    section="Services",
    address="https://kubernetes.io/docs/concepts/services-networking/dual-stack/",
)
WINDOWS = Source(
    document="Kubernetes documentation, IPv4/IPv6 dual-stack",
    section="Windows support",
    address="https://kubernetes.io/docs/concepts/services-networking/dual-stack/",
)
SDNBRIDGE = Source(
    document="microsoft/windows-container-networking, common/core/network.go",
    section="enableDualStack",
    address="https://github.com/microsoft/windows-container-networking/blob/master/common/core/network.go",
)
BOTH = ServiceSettings(label="dual", ip_family_policy="RequireDualStack")
BOTH_LOCAL = ServiceSettings(
    label="dual-local",
    type="NodePort",
    external_traffic_policy="Local",
    ip_family_policy="RequireDualStack",
)

FAMILIES = (
    cases.accepted("prefer-dual-stack", cases.service(ipFamilyPolicy="PreferDualStack")),
    cases.accepted("require-dual-stack", cases.service(ipFamilyPolicy="RequireDualStack")),
    cases.accepted("second-family-alone", cases.service(ipFamilies=["IPv6"])),
    cases.accepted(
        "second-family-first",
        cases.service(ipFamilyPolicy="RequireDualStack", ipFamilies=["IPv6", "IPv4"]),
    ),
    cases.rejected(
        "single-stack-of-two",
        cases.service(ipFamilyPolicy="SingleStack", ipFamilies=["IPv4", "IPv6"]),
        field="spec.ipFamilyPolicy",
        counter=cases.service(ipFamilyPolicy="PreferDualStack", ipFamilies=["IPv4", "IPv6"]),
    ),
    cases.rejected(
        "family-twice",
        cases.service(ipFamilyPolicy="PreferDualStack", ipFamilies=["IPv6", "IPv6"]),
        field="spec.ipFamilies[1]",
        counter=cases.service(ipFamilyPolicy="PreferDualStack", ipFamilies=["IPv6", "IPv4"]),
    ),
)


@flow(
    "dual-stack-pods",
    source=VantageKind.API,
    target=TargetKind.CONFIGURATION,
    matrix=Matrix.EACH,
    question=Question.INSPECT,
    cases=(cases.rule("pod-families"),),
    dual_stack=True,
    facts=(
        "v6-dualstack-l2bridge",
        "v6-ws2019",
        "v6-l2bridge-l2tunnel-old",
        "v6-azure-overlay",
    ),
    sources=(WINDOWS,),
)
def test_dual_stack_pods() -> None:
    """Pods have an address of each of the cluster's IP families."""


@flow(
    "dual-stack-service",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.PAIRS,
    each_family=True,
    dual_stack=True,
    service=BOTH,
    facts=("v6-dualstack-l2bridge", "v6-requiredualstack-lbs"),
    sources=(DUAL_STACK,),
)
def test_dual_stack_service() -> None:
    """A pod reaches a Service that requires both IP families by its ClusterIP of either."""


@flow(
    "dual-stack-nodeport-local",
    source=VantageKind.POD,
    target=TargetKind.NODEPORT,
    matrix=Matrix.OTHER_NODES,
    backing=Backing.LOCAL,
    protocols=(Protocol.TCP,),
    each_family=True,
    dual_stack=True,
    service=BOTH_LOCAL,
    facts=("v6-lb-sharing-bug",),
    sources=(DUAL_STACK,),
)
def test_dual_stack_nodeport_local() -> None:
    """With externalTrafficPolicy Local a node serves a dual-stack NodePort at its address of either IP family."""


@flow(
    "dual-stack-admission",
    source=VantageKind.API,
    target=TargetKind.API_SERVER,
    matrix=Matrix.CLUSTER,
    question=Question.ADMIT,
    dual_stack=True,
    cases=FAMILIES,
    facts=("v6-dualstack-l2bridge",),
    sources=(DUAL_STACK,),
)
def test_dual_stack_admission() -> None:
    """Services may have one family or both, in either order; contradictory settings are rejected."""


@flow(
    "dual-stack-plugin",
    source=VantageKind.NODE,
    target=TargetKind.CONFIGURATION,
    matrix=Matrix.EACH_WINDOWS,
    question=Question.INSPECT,
    cases=(cases.rule("sdnbridge-dual-stack"),),
    dual_stack=True,
    facts=("cni-sdnbridge-dualstack",),
    sources=(SDNBRIDGE,),
)
def test_dual_stack_plugin() -> None:
    """sdnbridge gives Pods both families on an l2bridge network that existed before."""
