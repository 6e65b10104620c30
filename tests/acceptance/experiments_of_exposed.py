"""Experiments about load balancers, externalIPs and health check ports: flows of class ``exposed``.

Rows of the table in ``experiments``, which says what an experiment is.
"""

from tests.acceptance.experiment import Experiment

DSR, OVERLAY_DSR = "win2022-l2bridge-dsr", "win2022-overlay-dsr"

EXPOSED = (
    Experiment(
        fact="svc-externalips",
        profile=DSR,
        switch="external-ips=off",
        checks=("service-external-ip/windows-1/*", "external-ip-source-address/windows-1/*"),
        was="pass",
        becomes="fail",
        enable="exposed",
    ),
    Experiment(
        fact="svc-lb-source-ranges",
        profile=DSR,
        switch="source-ranges=on",
        checks=("loadbalancer-source-ranges/windows-1/*",),
        enable="exposed",
    ),
    Experiment(
        fact="preserve-dest-annotation",
        profile=DSR,
        switch="preserve-destination=off",
        checks=("loadbalancer-preserve-destination/windows-1/*",),
        enable="exposed",
    ),
    Experiment(
        fact="preserve-dest-client-ip",
        profile=DSR,
        switch="preserved-sources=off",
        checks=("witnessed-preserve-destination/windows-1/*",),
        becomes="fail",
        enable="packets,exposed",
    ),
    Experiment(
        fact="svc-terminating-lb",
        profile=DSR,
        switch="terminating-fallback=off",
        checks=("loadbalancer-terminating-backends/windows-1/*",),
        was="pass",
        becomes="fail",
        enable="exposed",
    ),
    Experiment(
        fact="nodeport-healthcheck",
        profile=DSR,
        switch="health-check-ports=off",
        checks=(
            "health-check-local-backend/*/windows-1/*",
            "health-check-no-local-backend/*/windows-1/*",
            # Its positive control is the node of the backend, whose port is waited for.
            "health-check-no-local-backend/*/linux-1/*/backend-windows-1",
        ),
        was="pass",
        becomes="fail",
        enable="exposed",
    ),
    Experiment(  # the balancer outside may still lead to a Linux node, which serves what it gets
        fact="svc-lb-ingress-vip",
        profile=OVERLAY_DSR,
        switch="load-balancer-addresses=off",
        checks=("pod-to-loadbalancer/windows-1/windows-1/*",),
        was="pass",
        becomes="fail",
        enable="exposed",
    ),
    Experiment(
        fact="svc-lb-ingress-vip",
        profile=OVERLAY_DSR,
        switch="load-balancer-addresses=off",
        checks=("loadbalancer-source-address/windows-1/*",),
        becomes="fail",
        enable="exposed",
    ),
)
