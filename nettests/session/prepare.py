"""Prepare a run: connection, cluster profile, facts, plan and expectations.

The first stage of ``run`` and ``rounds``, and of collection without a run. Creates nothing in the cluster and writes
no file.

Measure how many seconds each stage of a run takes, for the report. Stages follow one another; a stage that begins a
second time is added up.

The user's description of a cluster: the cluster profile, and the options that override it. Reads only; nothing is
created.

Raise the limit of open files: each probe keeps a few connections, and a fleet has hundreds of probes. Shells usually
start programs with a soft limit of 1,024, whatever the system allows. The hard limit is never exceeded.

What a planned run will take of a cluster: members, Pods, Services, requests. Nothing is contacted. Objects are
counted exactly. Requests and seconds are rough: proportions of a default run on a lab of two Linux and two Windows
nodes (``reports/sample``: 1,287 members, 317 objects, 1,257 requests, 42 s); pulling images comes on top.
"""

import resource
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from nettests import probes
from nettests.cluster import Connection, connect
from nettests.cluster.discover import discover
from nettests.cluster.permissions import denied, level_of, privileged_of
from nettests.cluster.profile_file import read_profile
from nettests.cluster.threads import threads
from nettests.errors import ClusterError, ManifestError
from nettests.model.check import Plan
from nettests.model.cluster_profile import ClusterProfile, Images
from nettests.model.facts import ClusterFacts, Fact
from nettests.model.permission import CREATE_POD
from nettests.plan import Flow
from nettests.plan.images import tagged_images
from nettests.redaction import register
from nettests.report.text import plural
from nettests.session.blueprint import Blueprint, blueprint, read_manifests
from nettests.session.report_dir import new_run_id
from nettests.session.run_options import RunOptions


@dataclass(slots=True)
class StageClock:
    """The stages of one run, in the order in which they began; safe for threads, as an end may come from any."""

    clock: Callable[[], float] = time.monotonic
    _seconds: dict[str, float] = field(default_factory=dict)
    _running: str | None = None
    _since: float = 0.0
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def begin(self, stage: str) -> None:
        """End what is going on, and begin a stage."""
        with self._lock:
            self.end()
            self._seconds.setdefault(stage, 0.0)
            self._running, self._since = stage, self.clock()

    def end(self) -> None:
        """End what is going on, if anything is."""
        with self._lock:
            if self._running is not None:
                self._seconds[self._running] += self.clock() - self._since
                self._running = None

    def seconds(self) -> dict[str, float]:
        """Return what each stage took; the one that is going on counts to this moment."""
        with self._lock:
            running = {self._running: self.clock() - self._since} if self._running else {}
            return {
                stage: round(spent + running.get(stage, 0.0), 3)
                for stage, spent in self._seconds.items()
            }


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """All that a run needs before anything is deployed."""

    options: RunOptions
    run_id: str
    directory: Path
    connection: Connection
    profile: ClusterProfile
    blueprint: Blueprint
    stages: StageClock = field(default_factory=StageClock)
    """What the time was spent on so far."""


def prepare(options: RunOptions, flows: Iterable[Flow]) -> Prepared:
    """Connect, discover, plan and resolve; ``NettestsError`` before anything is deployed.

    Nothing is written: the run directory is made by ``Run``.
    """
    stages = StageClock()
    stages.begin("discover")
    read = read_manifests(
        options.manifests
    )  # what is broken is said before any cluster is contacted
    profile = profile_of(options)
    connection = connect(options.kubeconfig, options.context, profile.timing)
    profile = copied_secret(connection, profile)
    run_id = new_run_id()
    facts = facts_of(connection, profile, options)
    # Another part of a large fleet's pairs every run; whoever has the facts finds the same part.
    again = options.choice.seed
    seed = zlib.crc32(run_id.encode()) if again is None else again
    fleet = replace(facts.fleet, seed=seed)
    facts = replace(facts, fleet=fleet)
    stages.begin("plan")
    planned = blueprint(facts, flows, read, options.enabled, options.choice)
    stages.end()
    return Prepared(
        options=options,
        run_id=run_id,
        directory=options.report_dir / run_id,
        connection=connection,
        profile=profile,
        blueprint=planned,
        stages=stages,
    )


def blank_of(
    labels: Mapping[str, str], profile: ClusterProfile, facts: ClusterFacts, namespace: str
) -> probes.Blank:
    """Return what every object of a run gets, from the profile and the namespace that is used."""
    return probes.Blank(
        namespace=namespace,
        labels=labels,
        images=profile.images,
        settings=profile.pods,
        pod_security=facts.pod_security.value or "privileged",
        existing=bool(facts.namespace),
        external_ips=profile.external_ips,
        isolated=profile.network_policy,
    )


DEFAULT_NAMESPACE = "default"
"""Where the Secret of ``--pull-secret`` is copied from if it is named without a namespace."""
PULL_KEYS = (".dockerconfigjson", ".dockercfg")
"""What pull Secrets hold (Kubernetes, "Secrets", "Docker config Secrets")."""


def profile_of(options: RunOptions) -> ClusterProfile:
    """Return the cluster profile, with images as the options name them.

    An image that is named on the command line is the image of every node.
    """
    profile = read_profile(options.cluster_profile)
    images = profile.images
    if options.registry:
        images = replace(images, registry=options.registry)
    if options.pre_pull:
        images = replace(images, pre_pull=True)
    if options.pull_secret:
        images = _with_secret(images, options.pull_secret, options.namespace)
    if images.pull_secret_file and options.namespace:
        raise ManifestError(
            f"images.pullSecretFile cannot be used with --namespace {options.namespace}",
            hint="create the Secret there and name it in images.pullSecrets",
        )
    if images.pull_secrets and not options.namespace:
        raise ManifestError(
            "images.pullSecrets names Secrets of a namespace that does not exist yet",
            hint="use --namespace, or images.pullSecretFile, of which a run makes a Secret",
        )
    if options.image:
        images = replace(images, probe=options.image, by_system={})
    if images.require_digest and (tagged := tagged_images(images)):
        raise ManifestError(
            f"images.requireDigest is set, and these images are named by tag: {', '.join(tagged)}",
            hint="name them as name@sha256:…; nettests images --digests prints what nodes report",
        )
    if options.nodes:
        profile = replace(profile, fleet_nodes=options.nodes)
    if options.excluded_nodes:
        profile = replace(profile, excluded_nodes=options.excluded_nodes)
    return replace(profile, images=images) if images != profile.images else profile


def _with_secret(images: Images, given: str, used: str | None) -> Images:
    """Name the Secret of ``--pull-secret``: as it stands in the namespace that is used, or as one to be copied."""
    namespace, _, name = given.rpartition("/")
    if not used:
        return replace(images, pull_secret=f"{namespace or DEFAULT_NAMESPACE}/{name}")
    if namespace not in {"", used}:
        raise ManifestError(
            f"--pull-secret {given} is not in the namespace {used}, into which a run copies no Secret",
            hint=f"create it there, and name it without a namespace: --pull-secret {name}",
        )
    return replace(images, pull_secrets=(*images.pull_secrets, name))


def copied_secret(connection: Connection, profile: ClusterProfile) -> ClusterProfile:
    """Read the Secret that a run copies into its own namespace; ``ClusterError`` where it is none, or may not be read."""
    if not profile.images.pull_secret:
        return profile
    namespace, _, name = profile.images.pull_secret.partition("/")
    item = connection.get(f"/api/v1/namespaces/{namespace}/secrets/{name}")
    data = {key: text for key, text in (item.get("data") or {}).items() if key in PULL_KEYS}
    if not data:
        raise ClusterError(
            f"the Secret {profile.images.pull_secret} is no pull Secret: it has none of {', '.join(PULL_KEYS)}",
            hint="create one with `kubectl create secret docker-registry`",
        )
    for text in data.values():
        register(text)
    return replace(profile, images=replace(profile.images, pull_secret_data=data))


def facts_of(connection: Connection, profile: ClusterProfile, options: RunOptions) -> ClusterFacts:
    """Discover the cluster, with what admission makes of a run's Pods and of the namespace that it would use."""
    namespace = options.namespace or ""
    with threads(connection, "facts") as pool:
        admitted = pool.submit(_privileged, connection, namespace)
        level = pool.submit(level_of, connection, namespace) if namespace else None
        facts = discover(connection, profile, namespace)
        if level is not None:  # first: it says so where there is no such namespace
            facts = replace(facts, pod_security=level.result())
        return replace(facts, privileged=admitted.result())


def _privileged(connection: Connection, namespace: str) -> Fact[bool]:
    """Return whether privileged Pods are valid; beside discovery, whose answer about the right is not waited for."""
    missing = denied(connection, (CREATE_POD,), namespace)
    return privileged_of(connection, namespace, tuple(map(str, missing)))


def make_room() -> None:
    """Raise the number of open files from the soft limit to the hard one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


REQUESTS, REQUESTS_AN_OBJECT, REQUESTS_A_PROCESS = 100, 2, 3
SECONDS, SECONDS_A_MEMBER = 15, 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The size of a run."""

    checks: int
    flows: int
    members: int
    skips: int
    nodes: int
    probes: int
    pods: int
    services: int
    objects: int
    processes: int
    """Members that start a program on a node or in a Pod, by exec."""

    @property
    def requests(self) -> int:
        """About how many requests the API server is sent, streams included."""
        needed = REQUESTS_AN_OBJECT * self.objects + REQUESTS_A_PROCESS * self.processes
        return int(round(REQUESTS + needed, -2))

    @property
    def seconds(self) -> int:
        """About how long it takes on a lab."""
        return int(round(SECONDS + SECONDS_A_MEMBER * self.members, -1))

    @property
    def lines(self) -> tuple[str, ...]:
        """What a person reads of it."""
        checks, flows = plural(self.checks, "check"), plural(self.flows, "flow")
        members, nodes = plural(self.members, "member"), plural(self.nodes, "node")
        execs = REQUESTS_A_PROCESS * self.processes
        requests = f"about {self.requests:,} API requests, of which {execs:,} execs"
        return (
            f"{checks} of {flows} with {members} on {nodes}; {self.skips} skipped",
            f"{plural(self.probes, 'probe Pod')}, {plural(self.pods, 'Pod')} in all, {plural(self.services, 'Service')}",
            f"{requests}; about {self.seconds} s on a lab, and the time in which nodes pull images",
        )


def estimate(plan: Plan, facts: ClusterFacts, profile: ClusterProfile) -> Estimate:
    """Count what a run of this plan would create and send."""
    blank = blank_of({}, profile, facts, facts.namespace or "nettests")
    objects = Counter(item["kind"] for item in probes.rendered(plan, facts, blank))
    each = [member for check in plan.checks for member in check.each]
    return Estimate(
        checks=len(plan.checks),
        flows=len({check.flow for check in plan.checks}),
        members=len(each),
        skips=len(plan.skips),
        nodes=len({pod.node for pod in plan.pods if pod.node}),
        probes=len(plan.pods),
        pods=objects["Pod"],
        services=objects["Service"],
        objects=objects.total(),
        processes=sum(member.action.is_process for member in each),
    )
