"""Experiments about what stands in a node's network configuration. Used by ``experiments``."""

from tests.acceptance.experiment import Experiment

L2BRIDGE, OVERLAY = "win2019-l2bridge", "win2019-overlay"

CONFIGURATION = (
    Experiment(
        fact="kp-source-vip-l2bridge",
        profile=L2BRIDGE,
        switch="bridge-source-vip=on",
        checks=("hns-load-balancers/windows-1/empty-source-vip",),
        was="pass",
        becomes="fail",
        apart=True,
    ),
    Experiment(
        fact="cni-exceptionlist",
        profile=L2BRIDGE,
        switch="excepted-nodes=off",
        checks=(
            "hns-configuration/windows-1/outbound-nat",
            "flannel-host-configuration/windows-1/cni-exceptions",
        ),
        was="pass",
        becomes="fail",
        apart=True,
    ),
    Experiment(
        fact="cni-exceptionlist",
        profile=OVERLAY,
        switch="excepted-world=on",
        checks=(
            "hns-configuration/windows-1/outbound-nat",
            "flannel-host-configuration/windows-1/cni-exceptions",
        ),
        was="pass",
        becomes="fail",
        apart=True,
    ),
    Experiment(
        fact="cni-route-needencap",
        profile=L2BRIDGE,
        switch="own-node-route=off",
        checks=(
            "flannel-host-configuration/windows-1/cni-routes",
            "pod-to-node/windows-1/windows-1/same-node/*",
        ),
        was="pass",
        becomes="fail",
        apart=True,
    ),
)
