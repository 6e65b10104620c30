"""Faults of the API server, of its connections to nodes, of admission, of objects, and of controllers."""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

from nettests.lab.apiserver import ApiError as Refusal
from nettests.lab.apiserver import ChannelRequest, Ending, Request, webhooks
from nettests.lab.apiserver.troubles import Trouble, expired_tokens, from_user, resets, throttling
from nettests.lab.client import MERGE, STRATEGIC, ApiError, Client, Json
from nettests.lab.controllers.workloads import HASH_OF_REVISION, is_ready, owned_by, template_hash
from nettests.lab.errors import LabError
from nettests.lab.faults.targets import (
    Options,
    Targets,
    added,
    alone,
    changed,
    fault,
    pods_until,
    silenced,
)

GRACE_SECONDS = 40.0
"""``--node-monitor-grace-period``, after which a silent kubelet's node is NotReady (50 s from 1.32 on)."""
_OF_KUBELETS = frozenset({"exec", "attach", "portforward", "log", "node-proxy"})
"""Channels through the kubelet; the API server's proxy to Pods and Services bypasses it."""
_CHANNELS = frozenset({"exec", "attach", "portforward", "pod-proxy", "service-proxy"})
"""Channels to containers; logs stay readable, as with a hanging runtime."""
CONTROLLERS: Mapping[str, str] = {
    name: f"{name}s"
    for name in ("cronjob", "daemonset", "deployment", "job", "replicaset", "statefulset")
}
"""Controllers by kube-controller-manager's names, with the plural of each one's objects."""
_KINDS = {
    "node": "/api/v1/nodes/{}",
    "node-status": "/api/v1/nodes/{}/status",
    "configmap": "/api/v1/namespaces/{}/configmaps/{}",
    "daemonset": "/apis/apps/v1/namespaces/{}/daemonsets/{}",
}


def _struck(options: Options, default: float) -> Callable[[], bool]:
    """Return a function that says whether the fault strikes: at the rate, and reproducibly by seed."""
    dice, rate = random.Random(options.count("seed", 0)), options.number("rate", default)  # noqa: S311  # no secret
    return lambda: dice.random() < rate


def _exec_ends(name: str, ending: Ending) -> None:
    @fault(name)
    async def inject(lab: Targets, options: Options) -> AsyncIterator[None]:
        node, struck = lab.node(options), _struck(options, 1)

        def ends(channel: ChannelRequest) -> Ending:
            return ending if node in {None, channel.node} and struck() else Ending.TOLD

        with alone(lab.api, "exec", exec_ending=ends):
            yield


_exec_ends("exec-hangs", Ending.NEVER)
_exec_ends("exit-code-lost", Ending.UNTOLD)


@fault("attach-silent")
async def _attach_silent(lab: Targets, options: Options) -> AsyncIterator[None]:
    node = lab.node(options)
    with alone(lab.api, "attach", attach_mute=lambda channel: node in {None, channel.node}):
        yield


@fault("channel-down")
async def _channel_down(lab: Targets, options: Options) -> AsyncIterator[None]:
    node = lab.node(options)
    with _refused(lab, lambda channel: channel.kind in _CHANNELS and node in {None, channel.node}):
        yield


@fault("kubelet-silent")
async def _kubelet_silent(lab: Targets, options: Options) -> AsyncIterator[None]:
    """Silence a kubelet; after the grace period the node controller marks its node NotReady."""
    node, seconds = str(lab.node(options)), options.number("seconds", GRACE_SECONDS)
    with _refused(lab, lambda channel: channel.kind in _OF_KUBELETS and channel.node == node):
        async with silenced(lab, node, seconds):
            yield


@contextmanager
def _refused(lab: Targets, concerned: Callable[[ChannelRequest], bool]) -> Iterator[None]:
    """Refuse connections from the API server to nodes during the block, and cut open ones."""
    addresses = {node.name: node.address for node in lab.profile.nodes}

    async def broken(channel: ChannelRequest) -> str | None:
        address = addresses.get(channel.node, "0.0.0.0")  # noqa: S104  # in an error text, nothing is bound
        why = f"dial tcp {address}:10250: connect: connection refused"
        return why if concerned(channel) else None

    with alone(lab.api, "channels", channel_down=broken):
        lab.api.cut(concerned)
        yield


@fault("privileged-refused")
async def _privileged_refused(lab: Targets, _options: Options) -> AsyncIterator[None]:
    """Refuse new and changed Pods from now on; existing Pods are left alone."""
    with changed([lab.api], allow_privileged=False):
        yield


def _before_requests(name: str, rate: float, strike: Callable[[Options], Awaitable[None]]) -> None:
    """Declare a fault that strikes a share of users' requests before they are handled."""

    @fault(name)
    async def inject(lab: Targets, options: Options) -> AsyncIterator[None]:
        struck = _struck(options, rate)

        async def hook(_request: Request) -> None:
            if from_user.get() and struck():
                await strike(options)

        with alone(lab.api, "the API server", before_request=hook):
            yield


async def _fail(_options: Options) -> None:
    raise Refusal(500, "InternalError", "etcdserver: request timed out", {})


_before_requests("api-errors", 0.2, _fail)
_before_requests("slow-api", 1.0, lambda options: asyncio.sleep(options.number("seconds", 1.0)))


def _in_front(name: str, trouble: Callable[[Targets, float, int], Trouble]) -> None:
    @fault(name)
    async def inject(lab: Targets, options: Options) -> AsyncIterator[None]:
        rate, seed = options.number("rate", 0.2), options.count("seed", 0)
        end = lab.troubles.add(trouble(lab, rate, seed))
        yield
        end()


_in_front("api-throttling", lambda _lab, rate, seed: throttling(rate, seed))
_in_front("api-resets", lambda _lab, rate, seed: resets(rate, seed))
_in_front("expired-tokens", lambda lab, rate, seed: expired_tokens(rate, seed, lab.access))


@fault("pods-changed")
async def _pods_changed(lab: Targets, options: Options) -> AsyncIterator[None]:
    match = json_object(options, "match") if "match" in options else {}
    webhook = webhooks.mutating(json_object(options, "patch"), match)
    with alone(lab.api, "webhooks", mutating=webhook):
        yield


@fault("pods-refused")
async def _pods_refused(lab: Targets, options: Options) -> AsyncIterator[None]:
    webhook = webhooks.validating(json_object(options, "match"))
    with alone(lab.api, "webhooks", validating=webhook):
        yield


@fault("controller-stopped")
async def _controller_stopped(lab: Targets, options: Options) -> AsyncIterator[None]:
    """Stop a controller, as if left out of ``--controllers``; once cleared it catches up."""
    name = options.text("controller")
    if name not in CONTROLLERS:
        raise LabError(
            f'There is no controller "{name}".', hint=f"Controllers: {', '.join(CONTROLLERS)}."
        )
    if CONTROLLERS[name] in lab.stopped:
        raise LabError(
            f"The controller {name} is stopped already.", hint="nettests lab fault clear"
        )
    with added([lab.stopped], CONTROLLERS[name]):
        yield


@fault("object-edited")
async def _object_edited(lab: Targets, options: Options) -> AsyncIterator[None]:
    """Edit an object through the API, as an administrator does; clearing the fault restores it."""
    path, patch = _path_of(options.text("object")), json_object(options, "patch")
    rolls = "/daemonsets/" in path
    async with lab.client("faults") as client:
        try:
            before = await client.get(path.removesuffix("/status"))
            await client.patch(path, patch, kind=STRATEGIC if rolls else MERGE)
        except ApiError as error:
            raise LabError(f"The object was not edited: {error.message}") from error
        if rolls:
            await _rolled_out(client, path)
    yield
    async with lab.client("faults") as client:
        await client.patch(path, _inverse(patch, before))
        if rolls:
            await _rolled_out(client, path)


def _path_of(named: str) -> str:
    """Return the API path of ``kind/name`` or ``kind/namespace/name``; ``LabError`` if it is invalid."""
    kind, *words = named.split("/")
    form = _KINDS.get(kind, "")
    if not form or len(words) != form.count("{}") or not all(words):
        raise LabError(
            f'"{named}" names no object that can be edited.',
            hint="node/NAME, node-status/NAME, configmap/NAMESPACE/NAME or daemonset/NAMESPACE/NAME",
        )
    return form.format(*words)


def _inverse(patch: Json, before: Json) -> Json:
    back: Json = {}
    for key, value in patch.items():
        old = before.get(key)
        both = isinstance(value, dict) and isinstance(old, dict)
        back[key] = _inverse(value, old or {}) if both else old
    return back


def json_object(options: Options, name: str) -> Json:
    """Return an option that is a JSON object; ``LabError`` if it is not."""
    try:
        read = json.loads(options.text(name))
    except ValueError as error:
        raise LabError(f"--{name} is not JSON: {error}") from error
    if not isinstance(read, dict):
        example = '{"spec": {"replicas": 2}}'
        raise LabError(f"--{name} is not a JSON object.", hint=f"--{name} '{example}'")
    return read


async def _rolled_out(client: Client, path: str) -> None:
    """Wait until the rollout of an edited DaemonSet is complete or stuck."""
    daemon = await client.get(path)
    namespace, name = daemon["metadata"]["namespace"], daemon["metadata"]["name"]
    await pods_until(
        client,
        f"/api/v1/namespaces/{namespace}/pods",
        lambda pods: settled(daemon, pods),
        f"DaemonSet {name} was not rolled out.",
    )


def settled(daemon: Json, pods: Iterable[Json]) -> bool:
    """Whether all Pods of a DaemonSet are new and Ready, or a new one has failed.

    The controller replaces one Pod at a time, so a rollout stops at the first Pod that does not become Ready.
    """
    daemon_pods = owned_by(daemon, pods)
    digest = template_hash(daemon["spec"]["template"])
    new = [
        pod
        for pod in daemon_pods
        if pod["metadata"].get("labels", {}).get(HASH_OF_REVISION) == digest
    ]
    wanted = daemon.get("status", {}).get("desiredNumberScheduled", 0)
    if len(new) == len(daemon_pods) == wanted and all(map(is_ready, new)):
        return True
    containers = [
        each for pod in new for each in pod.get("status", {}).get("containerStatuses", ())
    ]
    return any("terminated" in each["state"] or each.get("restartCount") for each in containers)
