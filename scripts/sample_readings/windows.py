"""What tools on Windows nodes and in Windows Pods print, read as a run reads it."""

import json
import re
from collections.abc import Callable
from dataclasses import replace

from nettests.cluster.execute import answer_of
from nettests.diagnose.inventory import of_vfp_ports
from nettests.model.channel import ChannelError, ProgramMissingError
from nettests.model.flags import flags_in_log
from nettests.model.observation import Raw
from nettests.model.words import OS, Outcome
from nettests.parse.program_start import of_answer
from nettests.parse.read import read_raw
from nettests.parse.taxonomy import classify
from nettests.probes.packet_monitor import has_filters, is_running
from nettests.rules.evidence import Evidence, UnreadableError
from nettests.rules.host import (
    ADAPTERS,
    DYNAMIC,
    EXCLUDED,
    dynamic_range,
    excluded_ranges,
    virtual_adapter,
)
from nettests.rules.kube_proxy import PROXY_LOG
from nettests.tracing.printed import read_pktmon
from scripts.sample_readings.sample import Read, Sample, kept_of

RAW = Raw(
    check="samples",
    purpose="check",
    attempt=1,
    tool="",
    client_os=OS.WINDOWS,
    probe="sample",
    channel="exec",
    command=(),
    started=0.0,
    elapsed=0.0,
)


def _outcome(raw: Raw) -> str:
    attempt = read_raw(raw)
    if attempt.outcome is Outcome.PROBE_FAILED:
        return f"unknown: {attempt.detail}"
    if attempt.outcome is Outcome.RESOLVED:
        return f"resolved {len(attempt.addresses)}"
    return attempt.outcome.replace("_", "-")


def _tool(
    name: str, *, exit_code: int | None = None, status: int | None = None
) -> Callable[[Sample], str]:
    def read(sample: Sample) -> str:
        return _outcome(
            replace(RAW, tool=name, stdout=sample.text, exit_code=exit_code, status=status)
        )

    return read


def _curl(sample: Sample) -> str:
    # sample: curl: (7) Failed to connect to 127.0.0.1 port 10249: Connection refused
    match = re.search(r"curl: \((\d+)\)", sample.text)
    code = int(match[1]) if match else 0
    return _outcome(replace(RAW, tool="curl", stderr=sample.text, exit_code=code))


def _connect(sample: Sample) -> str:
    return _outcome(replace(RAW, tool="connect", stderr=sample.text, exit_code=1))


def _error_text(sample: Sample) -> str:
    outcome = classify(sample.text, OS.WINDOWS)
    return f"unknown: {sample.text}" if outcome is None else outcome.replace("_", "-")


def _exec_error(sample: Sample) -> str:
    # sample: 'C:\\hpc\\agnhost' is not recognized as an internal or external command,
    quoted = re.match(r"[^'\"«]*['\"«]\s?([^'\"»]+?)\s?['\"»]", sample.text)
    if quoted and of_answer([quoted[1]], 1, "", sample.text):
        return "program missing"
    status = json.dumps({"status": "Failure", "message": sample.text}).encode()
    try:
        answer_of("sample", "program", stdout=b"", stderr=b"", status=status)
    except ProgramMissingError:
        return "program missing"
    except ChannelError as error:
        return f"unknown: {error.message}"
    return "started"


def _pktmon(sample: Sample) -> Read:
    frames = read_pktmon(sample.text).frames
    ways = sorted({{"out": "Tx", "in": "Rx"}.get(frame.direction.value, "?") for frame in frames})
    places = "/".join(dict.fromkeys(frame.interface.removeprefix("component ") for frame in frames))
    text = f"{len(frames)} frames, {', '.join(ways)}, Component {places}"
    return Read(text=text, right=text.lower() == sample.expected.lower())


def _flags(sample: Sample) -> Read:
    flags = flags_in_log(kept_of(PROXY_LOG, sample.text))
    words = [f"{name}={value}" for name, value in flags.items()]
    return Read(text=" ".join(words), right=sample.expected in words)


def _excluded(sample: Sample) -> str:
    return f"{len(excluded_ranges(kept_of(EXCLUDED, sample.text)))} ranges"


def _dynamic(sample: Sample) -> str:
    ports = dynamic_range(kept_of(DYNAMIC, sample.text))
    return f"{ports.start}+{len(ports)}"


def _ipconfig(sample: Sample) -> str:
    """Say whether the addresses are on a virtual adapter, as those of the node have to be."""
    addresses = re.findall(r": (\d+\.\d+\.\d+\.\d+)", sample.text)
    evidence = Evidence(
        texts={ADAPTERS.name: kept_of(ADAPTERS, sample.text)},
        facts={"node-addresses": ",".join(addresses)},
    )
    try:
        finding = virtual_adapter.demand(evidence)
    except UnreadableError as error:
        return f"unknown: {error.message}"
    return "virtual adapter" if finding.conforms else "no virtual adapter"


def _vfp(sample: Sample) -> str:
    (counters, *_) = of_vfp_ports(sample.text)
    ports = len(counters.words)
    return f"{ports} port" if ports == 1 else f"{ports} ports"


def _status(sample: Sample) -> str:
    states = {True: "running", False: "not running", None: "unknown: no output"}
    return states[is_running(sample.text)]


READINGS = {
    "ping": _tool("ping", exit_code=1),
    "nslookup": _tool("nslookup", exit_code=0),
    "resolve_dnsname": _tool("resolve_dnsname", exit_code=0),
    "dial": _tool("dial", status=200),
    "dial400": _tool("dial", status=400),
    "curl": _curl,
    "connect": _connect,
    "taxonomy": _error_text,
    "exec": _exec_error,
    "pktmon": _pktmon,
    "excluded": _excluded,
    "dynamic": _dynamic,
    "ipconfig": _ipconfig,
    "vfp": _vfp,
    "pktmon_status": _status,
    "has_filters": lambda sample: str(has_filters(sample.text)),
    "kplog": _flags,
}
