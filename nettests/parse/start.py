"""Read what happened to a check's own Pod: it started, or why not, and what its follow-up action returned.

Started is Ready, or ended with success. A Pod that fails for a reason of its own (its container, its admission by the
kubelet) fails to start; one that cannot be scheduled or whose image is not pulled says nothing, unless the case tests
just that. If the case expects output, output with that text conforms.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nettests.model.check import EXIT_CODE, FIRST_PACKETS, MESSAGE, RESTARTS, TERMINATES, Case
from nettests.model.json_text import read_json
from nettests.model.observation import Raw
from nettests.model.words import Outcome
from nettests.parse import connect, curl, endings, first_packets, nslookup
from nettests.parse.reading import Reading, not_understood, one_line, probe_failed
from nettests.parse.sources import same_address
from nettests.parse.taxonomy import classify

Json = dict[str, Any]

NOT_ITS_OWN = (
    "Unschedulable",
    "SchedulerError",
    "ErrImagePull",
    "ImagePullBackOff",
    "RegistryUnavailable",
)
"""Reasons of the surroundings, not of the Pod."""
SANDBOX = "FailedCreatePodSandBox"
"""The event of a Pod that waits for its network and says nothing of it in its status."""
_OF_ERRORS = ("denied", "error", "read-only")
"""Words of what a case wants of mounttest where it wants it to fail."""
_EMPTY = re.compile(r'content of file "[^"]*":')
"""What mounttest says of an empty file; a certificate is in no record, so that its own words cannot be demanded."""
WHOLE_LINE = "whole-line"
"""The key in ``Raw.context`` of cases whose text has to be a line of its own."""
QUIET = frozenset({"ContainerCreating", "PodInitializing", "Completed"})


def started(pod: Json) -> bool:
    """Whether a Pod is Ready, or ended with success."""
    status = pod.get("status", {})
    conditions = status.get("conditions") or []
    ready = any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)
    return ready or status.get("phase") == "Succeeded"


def restarts(pod: Json, container: str) -> int:
    """Return how often a container of the Pod was restarted."""
    listed = pod.get("status", {}).get("containerStatuses") or []
    return next((int(one["restartCount"]) for one in listed if one["name"] == container), 0)


def ended(pod: Json) -> bool:
    """Whether all containers of a Pod have ended, well or not."""
    return pod.get("status", {}).get("phase") in {"Succeeded", "Failed"}


def come(pod: Json, case: Case, container: str) -> bool:
    """Whether nothing more is to be learnt by waiting: ``settled``.

    Where the case looks at what comes of the Pod by itself, that it came: its end, or a restart of ``container``.
    """
    if case.then is None or not case.then.by_itself:
        return settled(pod, case.reasons)
    return restarts(pod, container) > 0 if case.then.how == RESTARTS else ended(pod)


def settled(pod: Json, reasons: Sequence[str]) -> bool:
    """Whether nothing more is to be learnt by waiting: started, failed, or failing as the case requires."""
    status = pod.get("status", {})
    return started(pod) or status.get("phase") == "Failed" or _shows(own_words(status), reasons)


def read(raw: Raw) -> Reading:
    """Read one answer; ``context`` holds the case's ``reasons``, ``then`` and ``says``."""
    try:
        record = read_json(raw.stdout)
        status = record["status"]
    except (ValueError, KeyError, TypeError):
        return probe_failed(f"no record of a Pod: {raw.stdout}")
    if raw.context.get("then") == FIRST_PACKETS:
        return read_first_packets(record, raw)
    if raw.context.get("then") == RESTARTS:
        return _restarted_by_itself(record, raw)
    waits = raw.context.get("then") in {EXIT_CODE, MESSAGE}
    if waits and ended(record):
        return _of_its_end(status, raw)
    if waits and started(record):
        return probe_failed("its container did not end in time")
    if not started(record):
        return not_started(status, record.get("events") or [], raw)
    if raw.context.get("then"):
        return _afterwards(status, record.get("then") or {}, raw)
    return Reading(outcome=Outcome.STARTED, detail=f"started, {_addresses(status)}")


def read_first_packets(record: Mapping[str, Any], raw: Raw) -> Reading:
    """Read what a Pod logged of its first packets, or why it never ran."""
    if first_packets.told(logs := (record.get("then") or {}).get("logs") or {}):
        return first_packets.read(logs)
    return not_started(record["status"], record.get("events") or [], raw)


def _of_its_end(status: Json, raw: Raw) -> Reading:
    """Read how the first container ended: its code, or what it wrote for its Pod's status."""
    # sample: {"terminated": {"exitCode": 7, "reason": "Error", "message": "…", "startedAt": …, "finishedAt": …}}
    listed = status.get("containerStatuses") or [{}]
    end = (listed[0].get("state") or {}).get("terminated") or {}
    if end.get("reason") not in {"Completed", "Error"}:
        return probe_failed(f"its container did not end by itself: {end.get('reason', 'unknown')}")
    code, message, says = str(end["exitCode"]), str(end.get("message", "")), raw.context["says"]
    if raw.context["then"] == EXIT_CODE:
        return _compared(code == says, f"its container ended with exit code {code}", says)
    if message and says not in message:
        return not_understood(f"its termination message is {message.strip()!r} instead of {says!r}")
    told = f"with the message {message.strip()!r}" if message else "without a message"
    return _compared(bool(message), f"it ended with exit code {code}, {told}", repr(says))


def _compared(good: bool, told: str, wanted: str) -> Reading:  # noqa: FBT001 - what was compared
    """Return that something is as it should be, or what should be instead."""
    outcome = Outcome.CONFORMS if good else Outcome.DEVIATES
    return Reading(
        outcome=outcome, detail=one_line(told if good else f"{told} instead of {wanted}")
    )


def _restarted_by_itself(record: Json, raw: Raw) -> Reading:
    """Read whether the kubelet restarted a container for the reason of the case, which only an event tells."""
    status, says = record["status"], raw.context["says"]
    events = [f"{one['reason']}: {one['message']}" for one in record.get("events") or ()]
    restarted = [one for one in status.get("containerStatuses") or () if one.get("restartCount")]
    ran = any("running" in one["state"] for one in status.get("containerStatuses") or ())
    if restarted and not _shows(events, [says]):
        shown = events[-1] if events else "no event was found"
        return probe_failed(f"its container was restarted, but not for {says!r}: {shown}")
    if restarted:
        return _compared(good=True, told=f"its container was restarted: {says}", wanted=says)
    if ran:
        return _compared(good=False, told="its container was never restarted", wanted=repr(says))
    return not_started(status, record.get("events") or [], raw)


def not_started(status: Json, events: Sequence[Json], raw: Raw) -> Reading:
    """Read why a Pod is not there: its own reason, or one of its surroundings."""
    reasons = raw.context.get("reasons", "").splitlines()
    # sample: {"type": "Warning", "reason": "Failed", "message": "Error: container has runAsNonRoot …"}
    told = [
        f"{event['reason']}: {event['message']}"
        for event in events
        if event.get("type") == "Warning"
    ]
    own = list(own_words(status)) or [text for text in told if text.startswith(SANDBOX)]
    why = (
        "; ".join(dict.fromkeys(own or told[-1:]))
        or f"phase {status.get('phase')}, no reason given"
    )
    if reasons and not _shows([*own, *told], reasons):
        return probe_failed(f"it did not start, but not for {' or '.join(reasons)}: {why}")
    if not reasons and (not own or _shows(own, NOT_ITS_OWN)):
        return probe_failed(f"it did not start for a reason that is not its own: {why}")
    return Reading(outcome=Outcome.FAILS_TO_START, detail=one_line(why))


def own_words(status: Json) -> Iterator[str]:
    """Yield what the Pod's status says of why it is not there: reason and message, each once."""
    # sample: {"phase": "Failed", "reason": "PodOSNotSupported", "message": "Pod was rejected: Failed to …"}
    if status.get("reason"):
        yield f"{status['reason']}: {status.get('message', '')}"
    for kind in ("initContainerStatuses", "containerStatuses"):
        for container in status.get(kind) or []:
            state = container.get("state") or {}
            # sample: {"waiting": {"reason": "CreateContainerConfigError", "message": "container has …"}}
            # sample: {"terminated": {"exitCode": 128, "reason": "StartError", "message": "failed to …"}}
            said = state.get("waiting") or state.get("terminated") or {}
            if said.get("reason", "Completed") not in QUIET:
                code = f" ({said['exitCode']})" if said.get("exitCode") else ""
                yield f"{container['name']}: {said['reason']}{code}: {said.get('message', '')}"
            elif "running" in state and not container.get("ready") and kind == "containerStatuses":
                yield f"{container['name']}: runs, but is not Ready"
    # sample: {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/4 …"}
    for condition in status.get("conditions") or []:
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            yield f"{condition.get('reason', '')}: {condition.get('message', '')}"


def _shows(texts: Sequence[str] | Iterator[str], wanted: Sequence[str]) -> bool:
    return any(word.lower() in text.lower() for text in texts for word in wanted)


def _afterwards(status: Json, then: Json, raw: Raw) -> Reading:
    how, says = raw.context["then"], raw.context.get("says", "")
    if how == "address":
        return _address(status, raw)
    if "error" in then:
        outcome = classify(str(then["error"]), raw.client_os)
        if outcome is None or outcome.positive:
            return not_understood(f"{how}: {then['error']}")
        return Reading(outcome=outcome, detail=one_line(f"{how}: {then['error']}"))
    if how == "renew":
        return _renewed(then, raw)
    if how == "restart":
        return _restarted(then)
    if how == "end":
        return endings.ended(then, float(says))
    if how == TERMINATES:
        return endings.terminated(then, float(says))
    code, output = then.get("exit_code", 0), str(then.get("stdout", ""))
    if code and "curl" in raw.command:
        # It says what it met: that a name is not known is another answer than that nobody listens.
        return curl.read(
            replace(raw, exit_code=code, stdout=output, stderr=str(then.get("stderr", "")))
        )
    if "connect" in raw.command:
        stderr = str(then.get("stderr", ""))
        return connect.read(replace(raw, exit_code=code, stdout=output, stderr=stderr))
    if "mounttest" in raw.command and output:
        return _of_a_file(output, says)
    said = output.strip() or str(then.get("stderr", "")).strip() or "nothing"
    if code:  # the tool failed: what it would have said nobody knows
        return probe_failed(f"{how}: it ended with exit code {code} and said {said}")
    lines = [line.strip().lower() for line in output.splitlines()]
    there = says.lower() in (lines if WHOLE_LINE in raw.context else output.lower())
    good = then.get("status", 200) == 200 and there
    wanted = "" if good else f" instead of {says!r}"
    return Reading(
        outcome=Outcome.CONFORMS if good else Outcome.DEVIATES,
        detail=one_line(f"{how}: it said {said}{wanted}"),
    )


def _of_a_file(output: str, says: str) -> Reading:
    """Read what mounttest met of a file: that one is not there, or is denied, is no failure of the tool.

    Where an error is wanted, another error is none that is understood.
    """
    # samples: content of file "/a": text    error reading file content for "/a": open /a: permission denied
    empty = _EMPTY.fullmatch(output.strip()) is not None
    good, denied = says.lower() in output.lower() and not empty, "error" in output
    if denied and not good and any(word in says for word in _OF_ERRORS):
        return not_understood(f"mounttest: it said {output.strip()} instead of {says!r}")
    return _compared(good, f"mounttest: it said {output.strip()}", repr(says))


def _renewed(then: Json, raw: Raw) -> Reading:
    """Read what came in the place of a StatefulSet's Pod: the same name, as host name and in DNS."""
    before, after = then["uids"]
    if before == after or "stays" in then:
        return probe_failed(f"no other Pod {then['name']} came: {then.get('stays', before)}")
    name, hostname, address = str(then["name"]), str(then["hostname"]), str(then["address"])
    if hostname.lower() != name.lower():
        detail = f"Pod {name} calls itself {hostname or 'nothing'}"
        return Reading(outcome=Outcome.DEVIATES, detail=one_line(detail))
    lookup = then["lookup"]
    said = nslookup.read(replace(raw, stdout=lookup["stdout"], stderr=lookup["stderr"]))
    told = f"{lookup['asked']}: {said.detail}"
    if said.outcome is Outcome.PROBE_FAILED:
        return probe_failed(told)
    if address in said.addresses:
        return Reading(outcome=Outcome.CONFORMS, detail=one_line(f"{name} was recreated; {told}"))
    if said.outcome in {Outcome.RESOLVED, Outcome.NXDOMAIN}:
        detail = f"the Pod that was recreated as {name} has {address}, but {told}"
        return Reading(outcome=Outcome.DEVIATES, detail=one_line(detail))
    return Reading(outcome=said.outcome, detail=one_line(told))


def _restarted(then: Json) -> Reading:
    if not then.get("restarts") or not then.get("before"):
        address = then.get("before") or "none yet"
        return probe_failed(
            f"its container was not restarted in time; the Pod's address is {address}"
        )
    before, after = str(then["before"]), str(then.get("after") or "none")
    return Reading(
        outcome=Outcome.CONFORMS if before == after else Outcome.DEVIATES,
        detail=f"the Pod's address was {before} and is {after} after {then['restarts']} restart",
    )


def _address(status: Json, raw: Raw) -> Reading:
    own = str(status.get("podIP") or "")
    if not own:
        return probe_failed("the Pod started, but its status has no address")
    nodes = raw.context.get("client-node", "")
    if not nodes:
        return probe_failed(f"{_addresses(status)}, but its node's addresses are not known")
    same = same_address(own, nodes)
    detail = f"{_addresses(status)}, its node has {nodes}"
    return Reading(outcome=Outcome.CONFORMS if same else Outcome.DEVIATES, detail=detail)


def _addresses(status: Json) -> str:
    listed = [item["ip"] for item in status.get("podIPs") or [] if item.get("ip")]
    return f"the Pod's address is {', '.join(listed) or 'not known'}"
