"""Read what happened to a check's own Pod: its start, and its follow-up action.

Started means Ready, or ended with success. A Pod that fails for a reason of its own (its container,
its admission by the kubelet) fails to start; one that cannot be scheduled or whose image is not
pulled says nothing, unless the case tests exactly that. Output that the case expects conforms.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nettests.model.channel import MISSING
from nettests.model.check import EXIT_CODE, FIRST_PACKETS, MESSAGE, RESTARTS, TERMINATES, Case
from nettests.model.json_text import Object, read_json
from nettests.model.observation import Raw
from nettests.model.pod_problem import SANDBOX, status_reasons, telling
from nettests.model.words import Outcome
from nettests.parse import connect, curl, endings, first_packets, nslookup, program_start
from nettests.parse.reading import Reading, not_understood, one_line, probe_failed
from nettests.parse.sources import same_address
from nettests.parse.taxonomy import classify

NOT_ITS_OWN = (
    "Unschedulable",
    "SchedulerError",
    "ErrImagePull",
    "ImagePullBackOff",
    "RegistryUnavailable",
    "is not recognized as an internal or external command",
)
"""Reasons that lie in the cluster, or in how the harness starts its programs (cmd's text), not in the Pod."""
_OF_ERRORS = ("denied", "error", "read-only")
"""Words that a case's text has if mounttest should fail."""
_EMPTY = re.compile(r'content of file "[^"]*":')
"""mounttest's output for an empty file, which must not pass for a text: certificates are never recorded."""
WHOLE_LINE = "whole-line"
"""The key in ``Raw.context`` for cases whose text must be a whole line of the output."""


def started(pod: Object) -> bool:
    """Whether a Pod is Ready, or ended with success."""
    status = pod.get("status", {})
    conditions = status.get("conditions") or []
    ready = any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)
    return ready or status.get("phase") == "Succeeded"


def restarts(pod: Object, container: str) -> int:
    """Return how often a container of the Pod was restarted."""
    listed = pod.get("status", {}).get("containerStatuses") or []
    return next(
        (int(status["restartCount"]) for status in listed if status["name"] == container), 0
    )


def ended(pod: Object) -> bool:
    """Whether all containers of a Pod have ended, with success or not."""
    return pod.get("status", {}).get("phase") in {"Succeeded", "Failed"}


def conclusive(pod: Object, case: Case, container: str) -> bool:
    """Whether waiting longer shows nothing more: see ``settled``.

    If the case waits for what the Pod does by itself: its end, or a restart of ``container``.
    """
    if case.then is None or not case.then.by_itself:
        return settled(pod, case.reasons)
    return restarts(pod, container) > 0 if case.then.how == RESTARTS else ended(pod)


def settled(pod: Object, reasons: Sequence[str]) -> bool:
    """Whether the Pod started, failed, or is failing for one of the case's reasons."""
    status = pod.get("status", {})
    return (
        started(pod) or status.get("phase") == "Failed" or _shows(status_reasons(status), reasons)
    )


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
    """Read the logs of a Pod's first packets, or why the Pod never ran."""
    if first_packets.any_attempt(logs := (record.get("then") or {}).get("logs") or {}):
        return first_packets.read(logs)
    return not_started(record["status"], record.get("events") or [], raw)


def _of_its_end(status: Object, raw: Raw) -> Reading:
    """Read how the first container ended: its exit code, or its termination message."""
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
    phrase = f"with the message {message.strip()!r}" if message else "without a message"
    return _compared(bool(message), f"it ended with exit code {code}, {phrase}", repr(says))


def _compared(good: bool, phrase: str, wanted: str) -> Reading:  # noqa: FBT001 - what was compared
    """Return ``CONFORMS`` or ``DEVIATES``; the latter's detail adds the expected value."""
    outcome = Outcome.CONFORMS if good else Outcome.DEVIATES
    return Reading(
        outcome=outcome, detail=one_line(phrase if good else f"{phrase} instead of {wanted}")
    )


def _restarted_by_itself(record: Object, raw: Raw) -> Reading:
    """Read whether the kubelet restarted a container for the case's reason; only events show it."""
    status, says = record["status"], raw.context["says"]
    events = [f"{event['reason']}: {event['message']}" for event in record.get("events") or ()]
    restarted = [
        container
        for container in status.get("containerStatuses") or ()
        if container.get("restartCount")
    ]
    ran = any(
        "running" in container["state"] for container in status.get("containerStatuses") or ()
    )
    if restarted and not _shows(events, [says]):
        shown = events[-1] if events else "no event was found"
        return probe_failed(f"its container was restarted, but not for {says!r}: {shown}")
    if restarted:
        return _compared(good=True, phrase=f"its container was restarted: {says}", wanted=says)
    if ran:
        return _compared(good=False, phrase="its container was never restarted", wanted=repr(says))
    return not_started(status, record.get("events") or [], raw)


def not_started(status: Object, events: Sequence[Object], raw: Raw) -> Reading:
    """Read why a Pod did not start: for a reason of its own or of the cluster."""
    reasons = raw.context.get("reasons", "").splitlines()
    warnings = telling(events)
    own_reasons = (
        list(status_reasons(status, events))
        or [text for text in warnings if text.startswith(SANDBOX)][:1]
    )
    why = (
        "; ".join(dict.fromkeys(own_reasons or warnings[:1]))
        or f"phase {status.get('phase')}, no reason given"
    )
    if reasons and not _shows([*own_reasons, *warnings], reasons):
        return probe_failed(f"it did not start, but not for {' or '.join(reasons)}: {why}")
    if not reasons and (missing := _missing_program(own_reasons, raw)):
        return probe_failed(missing)
    if not reasons and (not own_reasons or _shows(own_reasons, NOT_ITS_OWN)):
        return probe_failed(f"it did not start for a reason that is not its own: {why}")
    return Reading(outcome=Outcome.FAILS_TO_START, detail=one_line(why))


def _missing_program(reasons: Sequence[str], raw: Raw) -> str:
    """Return that the image lacks a program that the Pod starts, or an empty string."""
    lacking = [text for text in reasons if (of := program_start.of_error(text)) and of.missing]
    if not lacking or len(raw.command) < 2:
        return ""
    pod = read_json(raw.command[1])
    for container in pod.get("spec", {}).get("containers", ()):
        program = (container.get("command") or [""])[0]
        if program and program in lacking[0]:
            return f"{program} {MISSING} {pod['metadata']['name']}: {lacking[0]}"
    return ""


def _shows(texts: Sequence[str] | Iterator[str], wanted: Sequence[str]) -> bool:
    return any(word.lower() in text.lower() for text in texts for word in wanted)


def _afterwards(status: Object, then: Object, raw: Raw) -> Reading:
    how, says = raw.context["then"], raw.context.get("says", "")
    if how == "address":
        return _address(status, raw)
    if "error" in then:
        outcome = classify(str(then["error"]), raw.client_os)
        if outcome is None or outcome.positive:  # the control channel's own text, and no tool's
            return probe_failed(f"{how}: {then['error']}")
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
        # curl's error says more than its failure: an unknown name is not a refused connection.
        return curl.read(
            replace(raw, exit_code=code, stdout=output, stderr=str(then.get("stderr", "")))
        )
    if "connect" in raw.command:
        stderr = str(then.get("stderr", ""))
        return connect.read(replace(raw, exit_code=code, stdout=output, stderr=stderr))
    if "mounttest" in raw.command and output:
        return _of_a_file(output, says)
    return _said(then, raw)


def _said(then: Object, raw: Raw) -> Reading:
    """Compare what was printed with what the case expects; ``exec`` without output proves nothing.

    hcsshim before 0.12 may lose the output of a short process (commit 5eb195256).
    """
    how, says = raw.context["then"], raw.context.get("says", "")
    code, output = then.get("exit_code", 0), str(then.get("stdout", ""))
    text = output.strip() or str(then.get("stderr", "")).strip() or "nothing"
    if code:  # the tool failed, so its output says nothing
        return probe_failed(f"{how}: it ended with exit code {code} and said {text}")
    if how == "exec" and text == "nothing":
        return not_understood("exec: it ended with exit code 0 and printed nothing")
    lines = [line.strip().lower() for line in output.splitlines()]
    contains = says.lower() in (lines if WHOLE_LINE in raw.context else output.lower())
    good = then.get("status", 200) == 200 and contains
    wanted = "" if good else f" instead of {says!r}"
    return Reading(
        outcome=Outcome.CONFORMS if good else Outcome.DEVIATES,
        detail=one_line(f"{how}: it said {text}{wanted}"),
    )


def _of_a_file(output: str, says: str) -> Reading:
    """Read mounttest's output about a file; a missing or denied file is not a failure of the tool.

    If an error is expected, a different error is not understood.
    """
    # samples: content of file "/a": text    error reading file content for "/a": open /a: permission denied
    empty = _EMPTY.fullmatch(output.strip()) is not None
    good, denied = says.lower() in output.lower() and not empty, "error" in output
    if denied and not good and any(word in says for word in _OF_ERRORS):
        return not_understood(f"mounttest: it said {output.strip()} instead of {says!r}")
    return _compared(good, f"mounttest: it said {output.strip()}", repr(says))


def _renewed(then: Object, raw: Raw) -> Reading:
    """Read whether a StatefulSet's recreated Pod has the same name, as host name and in DNS."""
    before, after = then["uids"]
    if before == after or "stays" in then:
        return probe_failed(f"no other Pod {then['name']} came: {then.get('stays', before)}")
    name, hostname, address = str(then["name"]), str(then["hostname"]), str(then["address"])
    if not hostname:
        return not_understood(f"hostname ended with 0 in Pod {name} and printed nothing")
    if hostname.lower() != name.lower():
        detail = f"Pod {name} calls itself {hostname}"
        return Reading(outcome=Outcome.DEVIATES, detail=one_line(detail))
    lookup = then["lookup"]
    resolution = nslookup.read(replace(raw, stdout=lookup["stdout"], stderr=lookup["stderr"]))
    phrase = f"{lookup['asked']}: {resolution.detail}"
    if resolution.outcome is Outcome.PROBE_FAILED:
        return probe_failed(phrase)
    if address in resolution.addresses:
        return Reading(outcome=Outcome.CONFORMS, detail=one_line(f"{name} was recreated; {phrase}"))
    if resolution.outcome in {Outcome.RESOLVED, Outcome.NXDOMAIN}:
        detail = f"the Pod that was recreated as {name} has {address}, but {phrase}"
        return Reading(outcome=Outcome.DEVIATES, detail=one_line(detail))
    return Reading(outcome=resolution.outcome, detail=one_line(phrase))


def _restarted(then: Object) -> Reading:
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


def _address(status: Object, raw: Raw) -> Reading:
    address = str(status.get("podIP") or "")
    if not address:
        return probe_failed("the Pod started, but its status has no address")
    nodes = raw.context.get("client-node", "")
    if not nodes:
        return probe_failed(f"{_addresses(status)}, but its node's addresses are not known")
    same = same_address(address, nodes)
    detail = f"{_addresses(status)}, its node has {nodes}"
    return Reading(outcome=Outcome.CONFORMS if same else Outcome.DEVIATES, detail=detail)


def _addresses(status: Object) -> str:
    listed = [item["ip"] for item in status.get("podIPs") or [] if item.get("ip")]
    return f"the Pod's address is {', '.join(listed) or 'not known'}"
