"""Pods of single checks, and the cases that start them.

Used by suites with ``flow``. Pure: node, labels and image are decided when the Pod is created.
"""

import json
from typing import Any

from nettests.model.check import (
    EXIT_CODE,
    FIRST_PACKETS,
    MESSAGE,
    RESTARTS,
    TERMINATES,
    UNTIL_DENIED,
    Afterwards,
    Case,
)
from nettests.model.json_text import Object
from nettests.model.labels import DOMAIN, POLICY_LABEL, WINDOWS_BUILD_LABEL
from nettests.model.words import OS, Outcome
from nettests.model.workload import Workload

HTTP = 8080
OTHER = "address-of-the-other-pod"
"""Placeholder in a case's Pod for the address of the server that its target names."""
SERVED = 18080
"""Where that server answers HTTP requests."""
SERVICE_ADDRESS = "address-of-its-service"
"""Placeholder in a case's Pod for the ClusterIP of the Service in front of that server."""
SERVICE_VARIABLE = "variables-of-its-service"
"""Placeholder for the prefix of that Service's environment variables: its name in their spelling."""
BUILD_LABEL = WINDOWS_BUILD_LABEL
BUILD = "build-of-its-node"
"""Placeholder in a case's Pod for the Windows build of its node, as in the node's label."""
SERVICE_NAME = "name-of-its-service"
"""Placeholder for that Service's fully qualified name."""
DENIED, ALLOWED = "denied", "allowed"
"""Labels of a Pod for a NetworkPolicy: it may send nothing, or only to servers of the run."""
ATTEMPTS = 15
"""How often a new Pod requests each kind of path, once a second until it is answered."""
CONNECT_SECONDS = 1
"""The time-out of a new Pod's attempt: when a SYN would be retransmitted."""
FIGURES = r"\nfirst-packets %{http_code} %{time_total}\n"
"""What curl prints after each request; ``parse.first_packets`` reads it."""
EVERYWHERE = "0.0.0.0"  # noqa: S104 - inside a Pod of the run's own
SENT = "x" * 8
"""What ``agnhost port-forward-tester`` sends."""
NOTE = "written-by-nettests"
"""The content of the file in a volume that a case mounts."""
NEW_FILE = "mount-tester new file"
"""What ``agnhost mounttest`` writes into a new file."""
SERVER = ("netexec", f"--http-port={HTTP}", "--udp-port=-1")
"""agnhost's arguments for a Pod that answers HTTP requests."""


def container(name: str = "first", *words: str, **fields: Any) -> Object:
    """Return a container of the run's image that runs ``words``, or waits until it is stopped."""
    return {"name": name, "args": list(words or ("pause",)), **fields}


def server(name: str = "first", **fields: Any) -> Object:
    """Return a container that answers HTTP requests; by default it is Ready once it does."""
    probe = {"tcpSocket": {"port": HTTP}, "periodSeconds": 1, "timeoutSeconds": 5}
    return container(name, *SERVER, **{"readinessProbe": probe, **fields})


def probing(label: str) -> Case:
    """Return a case whose postStart hook requests a server on another node, by address.

    A container that is killed because of its hook may exit with 0; with a restart it does not stay.
    """
    action = {"host": OTHER, "port": SERVED, "path": "/hostname"}
    hook = {"postStart": {"httpGet": action}}
    return Case(
        label=label,
        object=_text(pod(server(lifecycle=hook), restartPolicy="Always")),
        counter=_text(pod(server())),
        outcome=Outcome.STARTED,
        reasons=("FailedPostStartHook",),
    )


def reaching(label: str, *, pods: int = 1) -> Case:
    """Return a case whose Pod requests each kind of path from its start on, and logs the answers.

    With several ``pods``, all do so at the same time. curl expands the brackets to a series of
    URLs, so that no shell is needed.
    """
    paths = {"pod": f"{OTHER}:{SERVED}", "service": SERVICE_ADDRESS, "name": SERVICE_NAME}
    once = ("-sS", "--connect-timeout", str(CONNECT_SECONDS), "-m", "5", "-w", FIGURES)
    item = pod(
        *(
            container(name, *once, f"http://{to}/hostname?[1-{ATTEMPTS}]", command=["curl"])
            for name, to in paths.items()
        )
    )
    return Case(
        label=label,
        object=_text(item),
        counter=_text(pod()),
        outcome=Outcome.CONFORMS,
        then=Afterwards(how=FIRST_PACKETS),
        pods=pods,
    )


def sender(address: str) -> Object:
    """Return a container that sends ``SENT`` to the first client that connects to ``address``, and exits."""
    settings = {
        "BIND_ADDRESS": address,
        "BIND_PORT": str(HTTP),
        "CHUNKS": "1",
        "CHUNK_SIZE": str(len(SENT)),
        "CHUNK_INTERVAL": "1",
    }
    env = [{"name": name, "value": value} for name, value in settings.items()]
    return container("first", "port-forward-tester", env=env)


def pod(*containers: Object, **spec: Any) -> Object:
    """Return a Pod with these containers, or with one that waits."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {},
        "spec": {"containers": list(containers or (container(),)), **spec},
    }


def reads(path: str) -> tuple[str, ...]:
    """Return the step in which a Pod's first container prints one of its files."""
    return ("exec", "/agnhost", "mounttest", f"--file_content={path}")


def noting(
    place: str, *, mode: int = 0o644, sub_path: str = "", user: Object | None = None
) -> Object:
    """Return a Pod that mounts a volume with one file, ``note``, or that file alone, at ``place``.

    The file holds ``NOTE`` and has ``mode``; the Pod's security context is ``user``, if any.
    """
    reference = {"fieldPath": f"metadata.annotations['{annotation('note')}']"}
    source = {"items": [{"path": "note", "fieldRef": reference}], "defaultMode": mode}
    mount = {"name": "noted", "mountPath": place, **({"subPath": sub_path} if sub_path else {})}
    manifest = pod(
        container(volumeMounts=[mount]),
        volumes=[{"name": "noted", "downwardAPI": source}],
        **({"securityContext": user} if user else {}),
    )
    return annotated(manifest, note=NOTE)


def annotation(name: str) -> str:
    """Return the key of an annotation by ``annotated``; also used as a label that no node has."""
    return f"{DOMAIN}/{name}"


def annotated(item: Object, **annotations: str) -> Object:
    """Return a Pod with these annotations, in the project's domain."""
    named = {annotation(name): text for name, text in annotations.items()}
    return {**item, "metadata": {**item["metadata"], "annotations": named}}


def starts(
    label: str, item: Object, *, os: OS | None = None, reasons: tuple[str, ...] = ()
) -> Case:
    """Return a case whose Pod starts; ``reasons`` are for limitations under which it does not."""
    return Case(
        label=label,
        object=_text(item),
        counter=_text(pod()),
        outcome=Outcome.STARTED,
        os=os,
        reasons=reasons,
    )


def fails(label: str, item: Object, *reasons: str, os: OS | None = None) -> Case:
    """Return a case whose Pod does not start, for one of these reasons, but a plain Pod does."""
    return Case(
        label=label,
        object=_text(item),
        counter=_text(pod()),
        outcome=Outcome.FAILS_TO_START,
        os=os,
        reasons=reasons,
    )


def after(
    label: str,
    item: Object,
    how: str,
    *words: str,
    says: str = "",
    whole_line: bool = False,
    os: OS | None = None,
    counter: Object | None = None,
    when: tuple[str, ...] = (),
) -> Case:
    """Return a case whose Pod starts, and then behaves as expected: see ``Afterwards``.

    ``when`` are words of ``rules.subjects``: without these subjects it does not run.
    """
    return Case(
        label=label,
        object=_text(item),
        counter=_text(counter or pod()),
        outcome=Outcome.CONFORMS,
        os=os,
        when=when,
        then=Afterwards(how=how, words=words, says=says, whole_line=whole_line),
    )


def restarts(label: str, container: Object, *, says: str) -> Case:
    """Return a case whose container the kubelet restarts, with an event that contains ``says``."""
    return after(label, pod(container, restartPolicy="Always"), RESTARTS, says=says)


def ends_with_code(label: str, *command: str, code: str, os: OS | None = None) -> Case:
    """Return a case whose Pod runs ``command``, which exits with ``code``."""
    item = pod({"name": "first", "command": list(command)})
    return after(label, item, EXIT_CODE, says=code, os=os)


def connects(label: str, address: str, *, when: tuple[str, ...]) -> Case:
    """Return a case whose Pod opens a TCP connection to an external address and sends nothing."""
    words = ("/agnhost", "connect", "--timeout=5s", address)
    return Case(
        label=label,
        object=_text(pod()),
        counter=_text(pod()),
        outcome=Outcome.CONNECTED,
        when=when,
        then=Afterwards(how="exec", words=words),
    )


def terminates(label: str, item: Object, *, seconds: str) -> Case:
    """Return a case whose Pod is deleted, and whose server runs for ``seconds`` after SIGTERM."""
    return after(label, item, TERMINATES, says=seconds)


def ends_with_message(label: str, *words: str, says: str) -> Case:
    """Return a case whose Pod runs the probe image's ``words``; its status then contains their output."""
    return after(label, pod(container("first", *words)), MESSAGE, says=says)


def bound(label: str, policy: str, outcome: Outcome) -> Case:
    """Return a case whose Pod, under a NetworkPolicy, connects to its target's server.

    A policy may take effect late: if it denies, the Pod connects repeatedly.
    """
    item = pod()
    item["metadata"] = {"labels": {POLICY_LABEL: policy}}
    words = ("/agnhost", "connect", "--timeout=3s", f"{OTHER}:{SERVED}")
    how = "exec" if outcome.positive else UNTIL_DENIED
    return Case(
        label=label,
        object=_text(item),
        counter=_text(pod()),
        outcome=outcome,
        then=Afterwards(how=how, words=words),
    )


def stateful(label: str, *containers: Object) -> Case:
    """Return a case whose StatefulSet recreates its Pod, by the name that the Service selects."""
    template = pod(*(containers or (server(),)))
    return worked(label, Workload.STATEFUL_SET, template, "renew")


def worked(label: str, kind: Workload, template: Object, how: str, *, says: str = "") -> Case:
    """Return a case of a workload of ``kind`` for such Pods, and its result: see ``Afterwards``.

    The case's object has the Pod's ``spec``; the workload around it is added at its creation.
    """
    return Case(
        label=label,
        object=_text({**template, "kind": kind.value}),
        counter=_text(pod()),
        outcome=Outcome.CONFORMS,
        then=Afterwards(how=how, says=says),
    )


def _text(item: Object) -> str:
    return json.dumps(item, sort_keys=True)
