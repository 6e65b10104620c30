"""Experiments about names: what Pods resolve, and by which DNS suffixes. Values."""

from tests.acceptance.experiment import Experiment

L2BRIDGE, OVERLAY, DSR = "win2019-l2bridge", "win2019-overlay", "win2022-l2bridge-dsr"

NAMES = (
    Experiment(
        fact="dns-between-forms",
        profile=L2BRIDGE,
        switch="dotted-suffixes=on",
        checks=(
            "pod-to-service-partial-name/windows-1/*/system",
            "dns-other-namespace-partial/windows-1/*/system",
        ),
    ),
    Experiment(
        fact="dns-between-forms-nslookup",
        profile=L2BRIDGE,
        switch="nslookup-suffixes=off",
        checks=(
            "pod-to-service-partial-name/windows-1/*/nslookup",
            "dns-other-namespace-partial/windows-1/*/nslookup",
        ),
        was="pass",
        becomes="fail",
    ),
    Experiment(
        fact="dns-short-same-ns",
        profile=OVERLAY,
        switch="dns-suffixes=0",
        checks=("pod-to-service-pqdn/windows-1/*", "hns-configuration/windows-1/pod-dns-settings"),
        was="pass",
        becomes="fail",
    ),
    Experiment(
        fact="dns-between-forms-nslookup",
        profile=OVERLAY,
        switch="dns-suffixes=0",
        checks=(
            "pod-to-service-partial-name/windows-1/*/nslookup",
            "dns-other-namespace-partial/windows-1/*/nslookup",
        ),
        was="pass",
        becomes="limited",
    ),
    Experiment(  # the node's name server is outside
        fact="dns-policy-default",
        profile=DSR,
        switch="outbound-nat=off",
        checks=("dns-policy-default/windows-1/*",),
        was="pass",
        becomes="fail",
    ),
    Experiment(  # that server has to answer before it can deny the cluster's names
        fact="dns-policy-default",
        profile=DSR,
        switch="outbound-nat=off",
        checks=("dns-policy-default-cluster-name/windows-1/*",),
        was="pass",
        becomes="unknown",
    ),
    Experiment(
        fact="dns-policy-none",
        profile=L2BRIDGE,
        switch="dns-policy=off",
        checks=("dns-policy-none-servers/windows-1/*", "dns-policy-none/windows-1/*"),
        was="pass",
        becomes="fail",
    ),
    Experiment(
        fact="dns-policy-default",
        profile=L2BRIDGE,
        switch="dns-policy=off",
        checks=("dns-policy-default-cluster-name/windows-1/*",),
        was="pass",
        becomes="fail",
    ),
    Experiment(
        fact="dns-no-resolvconf-file",
        profile=OVERLAY,
        switch="resolv-conf=on",
        checks=("dns-mounted-file/windows-1/*",),
    ),
)
