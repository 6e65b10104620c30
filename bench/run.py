"""A whole run on the lab: where its time goes, and how many API requests a check costs.

    python bench/run.py [PROFILE …] [OPTION …]

Prints, for each profile, the seconds until every node is Ready, the seconds of the run, API requests
per check as the API server counted them, from discovery to clean-up, and the share of probing time that
was spent waiting for time-outs. Options such as ``--enable=costly`` are handed to ``nettests run``.
The budget of the default profile on two cores: Ready in 5 s, the run in 120 s, 3 API requests a check.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from kubernetes import config

PROFILES = ("win2019-l2bridge",)
COMPONENTS = {"events", "leases", "endpoints", "endpointslices", "status", "binding"}
"""What only the cluster's own components write: the API server counts their requests too. A pod that a
kubelet deletes at the end cannot be told from one that the run deletes, and counts."""
TIMED_OUT = 4.5
"""An answer that took longer than this waited for a time-out: dials give up after 5 s."""


def main() -> None:
    """Measure every profile that was named."""
    options = [word for word in sys.argv[1:] if word.startswith("--")]
    for profile in [word for word in sys.argv[1:] if word not in options] or PROFILES:
        measure(profile, options)


def measure(profile: str, options: list[str]) -> None:
    """Bring a lab up, run on it, take it down, and print the figures."""
    began = time.monotonic()
    name = f"bench-{time.time_ns() % 10**9}"
    up = json.loads(
        nettests(
            *("lab", "up", "--json", "--while", str(os.getpid())),
            *("--profile", profile, "--name", name),
        )
    )
    ready = time.monotonic() - began
    try:
        before = requests(up["kubeconfig"])
        with tempfile.TemporaryDirectory() as folder:
            began = time.monotonic()
            nettests(
                "run",
                "--quiet",
                f"--kubeconfig={up['kubeconfig']}",
                f"--cluster-profile={up['cluster_profile']}",
                f"--report-dir={folder}",
                *options,
            )
            took = time.monotonic() - began
            journal = (Path(folder) / "latest" / "journal.jsonl").read_text().splitlines()
        probed = requests(up["kubeconfig"]) - before
    finally:
        nettests("lab", "down", "--name", name)
    show(profile, ready, took, [json.loads(line) for line in journal], probed)


def show(
    profile: str,
    ready: float,
    took: float,
    records: list[dict[str, Any]],
    probed: Counter[str],
) -> None:
    """Print one profile's figures."""
    checks = sum(1 for record in records if record["record"] == "planned")
    raws = [record["raw"] for record in records if record["record"] == "raw"]
    probing = sum(raw["elapsed"] for raw in raws)
    waiting = sum(raw["elapsed"] for raw in raws if raw["elapsed"] > TIMED_OUT)
    total = sum(probed.values())
    by_kind = ", ".join(f"{count} {kind}" for kind, count in probed.most_common())
    print(f"{profile}")
    print(f"  all nodes Ready            {ready:6.1f} s")
    print(f"  run, discovery to report   {took:6.1f} s   {checks} checks, {len(raws)} questions")
    print(f"  API requests               {total / checks:6.1f} a check   {total}: {by_kind}")
    print(f"  probing, all probes added   {probing:6.1f} s   at once: {probing / took:.1f}")
    print(f"  of that, for time-outs     {waiting / probing:6.0%}")


def requests(kubeconfig: str) -> Counter[str]:
    """Return the API server's own count of requests, without those of the cluster's components."""
    counted: Counter[str] = Counter()
    web = config.new_client_from_config(config_file=kubeconfig)
    credentials = web.configuration.auth_settings()["BearerToken"]["value"]
    url = f"{web.configuration.host}/metrics"
    text = web.call_api("GET", url, {"Authorization": credentials}).read().decode()
    # sample: apiserver_request_total{resource="pods",subresource="proxy",verb="GET"} 644
    sample = r'resource="(\w*)",subresource="(\w*)",verb="(\w+)"} (\d+)'
    for resource, subresource, verb, count in re.findall(sample, text):
        kind = subresource or resource or "other"
        if kind not in COMPONENTS:
            counted[kind if subresource else f"{verb} {kind}"] += int(count)
    return counted


def nettests(*arguments: str) -> str:
    """Run the command line and return what it printed; it must succeed."""
    return subprocess.run(
        [sys.executable, "-m", "nettests", *arguments], capture_output=True, text=True, check=True
    ).stdout


if __name__ == "__main__":
    main()
