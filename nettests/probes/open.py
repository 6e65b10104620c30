"""Open the control channels of all probes concurrently, each chosen by a self-check.

Runs between deployment and observation. A probe without a channel is recorded as a problem, and its
checks become ``unknown``; the chosen channel is recorded.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from nettests.bounds import Bounds, for_questions, room_for_questions
from nettests.model.channel import ChannelError, ExecChannel
from nettests.model.cluster_profile import Timing
from nettests.model.facts import ClusterFacts
from nettests.model.words import OS
from nettests.probes.deployment import Deployment, StandingPod
from nettests.probes.objects import PROBE_HTTP
from nettests.probes.rerun import RESOLVER_HANGS_SECONDS
from nettests.probes.seams import Cluster, Recorder
from nettests.probes.sending import Probe
from nettests.probes.together import Together

PROBED = frozenset({"probe", "resolver", "node"})
"""The purposes of pods that serve as probes."""


def open_probes(
    cluster: Cluster,
    deployment: Deployment,
    facts: ClusterFacts,
    timing: Timing,
    recorder: Recorder,
) -> tuple[Mapping[str, Probe], Mapping[str, str]]:
    """Return the usable probes, and the reason for each that is missing or unusable."""
    probes: dict[str, Probe] = {}
    problems = dict(deployment.problems)

    def processes(pod: StandingPod, container: str) -> ExecChannel:
        os = facts.node(pod.node).os
        return cluster.open_exec(deployment.namespace, pod.name, container, node=pod.node, os=os)

    def open_one(pod: StandingPod) -> None:
        execute = processes(pod, "probe" if pod.purpose == "resolver" else pod.purpose)
        os = facts.node(pod.node).os
        together, linux = partial(Together, execute, os, timing.execute), os is OS.LINUX
        lookups = together(goes_on=not linux, beside=linux, hangs=RESOLVER_HANGS_SECONDS)
        pinging = together(beside=True) if linux else None
        if pod.purpose == "node":
            probes[pod.name] = Probe(
                name=pod.name,
                execute=execute,
                lookups=lookups,
                going_on=together(goes_on=True),
                stopping=together(),
                pinging=pinging,
            )
            return
        try:
            channels, notes = cluster.open_http(
                deployment.namespace, pod.name, PROBE_HTTP, execute, timeout=timing.listening
            )
        except ChannelError as error:
            problems[pod.name] = error.message
            recorder.event(f"probe {pod.name}: {error.message}")
            return
        refused = f" ({'; '.join(notes)})" if notes else ""
        recorder.event(f"probe {pod.name} is reached over {channels[0].name}{refused}")
        slots = for_questions(at_once, room, bounds)
        probes[pod.name] = Probe(
            name=pod.name,
            http=channels,
            execute=execute,
            http_slots=slots,
            lookups=lookups,
            pinging=pinging,
        )

    probed = [pod for pod in deployment.pods.values() if pod.purpose in PROBED]
    by_http = sum(1 for pod in probed if pod.purpose != "node")
    bounds = Bounds.of(timing)
    at_once, room = bounds.questions(by_http), room_for_questions(bounds)
    with ThreadPoolExecutor(bounds.openings, "open") as pool:
        list(pool.map(open_one, probed))
    return probes, problems


def close_probes(probes: Mapping[str, Probe]) -> None:
    """Close the probes' HTTP channels."""
    for probe in probes.values():
        for channel in probe.http:
            channel.close()
