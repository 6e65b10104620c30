"""Experiments about what objects of the API bring about: workloads, slices, affinity, Pod Security, hooks; idle connections.

The first rows of the table in ``experiments``, which says what an experiment is.
"""

from tests.acceptance.experiment import Experiment

OBJECTS = (
    Experiment(
        fact="plat-statefulset",
        profile="win2019-l2bridge",
        switch="pod-identity=off",
        checks=("stateful-set-names/*",),
        was="pass",
        becomes="fail",
    ),
    Experiment(
        fact="svc-topology-hints",
        profile="win2019-l2bridge",
        switch="topology-hints=on",
        checks=("service-topology-hints/windows-1/*",),
    ),
    Experiment(
        fact="plat-runtimeclass-steering",
        profile="win2019-l2bridge",
        switch="runtime-classes=off",
        checks=("runtime-class-steering/*",),
        was="pass",
        becomes="fail",
    ),
    Experiment(
        fact="hostport-ipv6",
        profile="win2022-l2bridge-dualstack",
        switch="port-mappings-ipv6=off",
        checks=("hostport-from-other-node/*/windows-1/*/ipv6",),
        was="pass",
        becomes="fail",
    ),
    Experiment(
        fact="flow-lifecycle-http-hook-remote",
        profile="win2019-overlay",
        switch="host-encapsulates=on",
        checks=("pod-hook-other-node/windows-1/*",),
        enable="costly",
    ),
    Experiment(  # endpoints that somebody wrote by hand are in slices alone
        fact="kp-endpointslice",
        profile="win2022-l2bridge-dsr",
        switch="endpoint-slices=off",
        checks=("service-without-selector/windows-1/*",),
        was="pass",
        becomes="fail",
    ),
    Experiment(
        fact="kp-endpointslice",
        profile="win2022-l2bridge-dsr",
        switch="endpoint-slices=off",
        checks=("service-two-target-ports/windows-1/*", "service-topology-hints/windows-1/*"),
        becomes="fail",
    ),
    Experiment(  # Endpoints know no more than ready or not
        fact="svc-publish-not-ready",
        profile="win2022-l2bridge-dsr",
        switch="endpoint-slices=off",
        checks=("service-unready-backend/windows-1/*/same-node/*",),
    ),
    Experiment(
        fact="aff-timeout",
        profile="win2022-l2bridge-dsr",
        switch="affinity-timeout=on",
        checks=("affinity-timeout/windows-1/*",),
        enable="costly",
    ),
    Experiment(
        fact="sec-psa-restricted",
        profile="win2022-l2bridge-dsr",
        switch="windows-pod-security=off",
        checks=("windows-pod-restricted/api/without-linux-fields",),
        was="pass",
        becomes="fail",
    ),
    Experiment(
        fact="flow-tcp-idle-4min",
        profile="win2019-l2bridge",
        switch="flow-ageing=off",
        checks=("pod-to-pod-idle/windows-1/*",),
        enable="costly",
    ),
)
