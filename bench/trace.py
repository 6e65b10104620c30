"""Does a trace name the hop and the reason? Faults of the selftest by what is found of each, as a confusion matrix.

    python bench/trace.py [--profile P …] [--fault NAME …] [--json FILE] [--keep DIR]

Brings each profile up, puts one fault of ``nettests lab selftest`` in force after the other, traces a check that it breaks
with ``nettests trace``, and compares what is found with what was declared here. "Confident" is a finding that is neither the
declared one nor ``unsure``: there must be none. The budget is 90 % right.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nettests.lab.folders.state import LabFolder
from nettests.lab.selftest import running
from nettests.lab.selftest.named_faults import chosen

BUDGET = 0.9
SECONDS = 240
"""For one trace, Pods included."""
HEALTHY = "(none)"
BRIDGE, DSR = "win2019-l2bridge", "win2022-l2bridge-dsr"
OVERLAY, OPEN_VSWITCH = "win2019-overlay", "antrea-transparent"

TO_LINUX = "windows-1/linux-1/other-node/tcp"
TO_WINDOWS = "windows-1/windows-1/other-node/tcp"
FROM_LINUX = "linux-1/windows-1/other-node/tcp"
BETWEEN_LINUX = "linux-1/linux-1/other-node/tcp"


@dataclass(frozen=True, kw_only=True)
class Case:
    """A fault on a profile, the check that is traced while it is in force, and what is right to find."""

    profile: str
    fault: str
    check: str
    right: str
    enable: str = ""
    """Classes of checks that have to be enabled for it."""

    def __str__(self) -> str:
        return f"{self.profile}: {self.fault}: {self.check}"


def _cases(profile: str, *rows: tuple[str, str, str]) -> Iterator[Case]:
    for fault, check, right in rows:
        idle = "costly" if "idle" in check else ""
        yield Case(profile=profile, fault=fault, check=check, right=right, enable=idle)


CASES = (
    *_cases(
        BRIDGE,
        (HEALTHY, f"pod-to-service-clusterip/{TO_LINUX}", "nothing-wrong"),
        ("node-cut-off", f"pod-to-pod-ip/{TO_WINDOWS}", "lost-between-nodes"),
        ("rules-missing", f"pod-to-service-clusterip/{TO_LINUX}", "untranslated"),
        ("one-service-missing", f"pod-to-service-clusterip/{TO_WINDOWS}", "untranslated"),
        ("proxy-stopped-on-linux", f"pod-to-service-clusterip/{BETWEEN_LINUX}", "untranslated"),
        ("stale-endpoint-on-linux", f"pod-to-service-clusterip/{BETWEEN_LINUX}", "dead-backend"),
        ("source-rewritten-on-linux", f"dsr-source-address/{BETWEEN_LINUX}", "source-rewritten"),
        # Its default route takes the packet: it leaves, and comes nowhere.
        ("route-missing", f"pod-to-pod-ip/{TO_WINDOWS}", "lost-between-nodes"),
        (
            "nodeports-blocked",
            f"nodeport-from-other-node/{FROM_LINUX}/backend-local",
            "lost-between-nodes",
        ),
    ),
    *_cases(
        DSR,
        (HEALTHY, f"pod-to-service-clusterip/{TO_LINUX}", "nothing-wrong"),
        ("pair-one-way", f"pod-to-pod-ip/{FROM_LINUX}", "lost-between-nodes"),
        ("pair-one-way", f"pod-to-pod-ip/{TO_LINUX}", "reply-lost"),
        ("udp-lost", f"pod-to-pod-ip/{TO_LINUX.replace('tcp', 'udp')}", "lost-between-nodes"),
        (
            "icmp-lost",
            f"icmp-pod-to-pod/{TO_LINUX.replace('tcp', 'icmp')}",
            "lost-between-nodes",
        ),
        ("rules-missing", f"pod-to-service-clusterip/{TO_LINUX}", "untranslated"),
        ("stale-endpoint", f"pod-to-service-clusterip/{TO_LINUX}", "dead-backend"),
        ("wrong-target-port", f"pod-to-service-clusterip/{TO_LINUX}", "dead-backend"),
        ("backend-silent", f"pod-to-service-clusterip/{TO_WINDOWS}", "unanswered"),
        ("large-packets-lost", f"payload-pod-to-pod/{TO_LINUX}", "too-big-untold"),
        ("dsr-off", f"dsr-source-address/{TO_LINUX}", "source-rewritten"),
        ("source-rewritten", f"pod-to-pod-ip/{TO_LINUX}", "source-rewritten"),
        ("hairpin-broken", "service-hairpin/linux-1/linux-1/same-node/tcp", "not-delivered"),
        ("every-third-connection", f"pod-to-pod-ip/{TO_WINDOWS}", "dropped"),
        ("idle-service-flows-forgotten", f"pod-to-service-idle/{BETWEEN_LINUX}", "forgotten"),
        ("loss-20-percent", f"path-loss/{TO_LINUX}", "loses-some"),
        ("loss-20-percent", f"path-loss/{TO_LINUX.replace('tcp', 'udp')}", "loses-some"),
        ("tcp-loss-5-percent", f"path-loss/{TO_LINUX}", "loses-some"),
        ("loss-1-percent", f"path-loss/{TO_LINUX}", "loses-some"),
    ),
    *_cases(
        OVERLAY,
        (HEALTHY, f"pod-to-service-clusterip/{TO_LINUX}", "nothing-wrong"),
        ("node-cut-off", f"pod-to-pod-ip/{TO_WINDOWS}", "lost-between-nodes"),
        ("other-vni", f"pod-to-pod-ip/{TO_WINDOWS}", "wrong-vni"),
        # What is not encapsulated passes no uplink of a Windows overlay: only nodes' addresses do.
        ("not-encapsulated", f"pod-to-pod-ip/{TO_LINUX}", "dropped"),
        ("not-encapsulated-on-linux", f"pod-to-pod-ip/{BETWEEN_LINUX}", "not-encapsulated"),
        ("route-missing-on-linux", f"pod-to-pod-ip/{BETWEEN_LINUX}", "not-encapsulated"),
        ("rules-missing", f"pod-to-service-clusterip/{TO_LINUX}", "untranslated"),
        ("proxy-stopped", f"pod-to-service-clusterip/{TO_LINUX}", "untranslated"),
        ("stale-endpoint", f"pod-to-service-clusterip/{TO_LINUX}", "dead-backend"),
        ("backend-silent", f"pod-to-pod-ip/{TO_WINDOWS}", "unanswered"),
        ("large-packets-lost", f"payload-pod-to-pod/{TO_LINUX}", "too-big-untold"),
        ("idle-service-flows-forgotten", f"pod-to-service-idle/{BETWEEN_LINUX}", "forgotten"),
        ("loss-20-percent", f"path-loss/{TO_LINUX}", "loses-some"),
    ),
    *_cases(
        OPEN_VSWITCH,
        (HEALTHY, f"pod-to-service-clusterip/{TO_LINUX}", "nothing-wrong"),
        ("node-cut-off", f"pod-to-pod-ip/{TO_WINDOWS}", "lost-between-nodes"),
        ("other-vni", f"pod-to-pod-ip/{TO_WINDOWS}", "wrong-vni"),
        ("rules-missing", f"pod-to-service-clusterip/{TO_LINUX}", "untranslated"),
        ("stale-endpoint", f"pod-to-service-clusterip/{TO_LINUX}", "dead-backend"),
        ("backend-silent", f"pod-to-pod-ip/{TO_WINDOWS}", "unanswered"),
    ),
)


@dataclass(frozen=True, kw_only=True)
class Traced:
    """What one trace found; ``found`` is empty where there is none."""

    case: Case
    found: str
    seconds: float
    said: str

    @property
    def right(self) -> bool:
        """Whether it is what was declared."""
        return self.found == self.case.right

    @property
    def confident(self) -> bool:
        """Whether it says something else, and is sure of it."""
        return bool(self.found) and not self.right and self.found != "unsure"


def main() -> int:
    """Trace every case, print the matrix; 1 where the budget is missed."""
    arguments = _arguments()
    cases = [
        case
        for case in CASES
        if (not arguments.profile or case.profile in arguments.profile)
        and (not arguments.fault or case.fault in arguments.fault)
    ]
    traced: list[Traced] = []
    for profile in dict.fromkeys(case.profile for case in cases):
        with running.lab(profile) as folder:
            for case in (each for each in cases if each.profile == profile):
                traced.append(_traced(folder, case, arguments.keep))
                print(_line(traced[-1]), flush=True)
    print("\n".join(_matrix(traced)))
    if arguments.json:
        rows = [
            {**vars(trace.case), "found": trace.found, "seconds": round(trace.seconds, 1)}
            for trace in traced
        ]
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    right = sum(trace.right for trace in traced)
    return int(right < BUDGET * len(traced) or any(trace.confident for trace in traced))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--profile", action="append", default=[])
    parser.add_argument("--fault", action="append", default=[])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--keep", type=Path, help="keep the page of each trace there")
    return parser.parse_args()


def _traced(folder: LabFolder, case: Case, keep: Path | None) -> Traced:
    faults = () if case.fault == HEALTHY else chosen([case.fault])
    with (
        tempfile.TemporaryDirectory() as scratch,
        running.broken(folder, [injection for fault in faults for injection in fault.injections]),
    ):
        name = "-".join((case.profile, case.fault.strip("()"), case.check.replace("/", "-")))
        directory = (keep or Path(scratch)) / name
        began = time.monotonic()
        done = subprocess.run(
            [
                *(sys.executable, "-m", "nettests", "trace", case.check),
                f"--kubeconfig={folder.kubeconfig}",
                f"--cluster-profile={folder.cluster_profile}",
                f"--to={directory}",
                *([f"--enable={case.enable}"] if case.enable else []),
            ],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        seconds = time.monotonic() - began
        lines = directory / "trace.txt"
        text = lines.read_text(encoding="utf-8") if lines.exists() else done.stderr
        findings = [
            line.split()[1].rstrip(":") for line in text.splitlines() if line.startswith("finding")
        ]
    return Traced(
        case=case, found=findings[0] if findings else "", seconds=seconds, said=text.strip()
    )


def _line(trace: Traced) -> str:
    word = (
        "right"
        if trace.right
        else "WRONG"
        if trace.confident
        else "unsure"
        if trace.found
        else "no trace"
    )
    more = "" if trace.right else f"\n    {trace.said.replace(chr(10), chr(10) + '    ')}"
    return f"{trace.seconds:5.1f} s  {word:8}  {trace.case}: {trace.found or '–'}{more}"


def _matrix(traced: Sequence[Traced]) -> Iterator[str]:
    """Yield what was declared against what was found, and the count."""
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    for trace in traced:
        rows[trace.case.right][trace.found or "no trace"] += 1
    columns = list(dict.fromkeys([*rows, *(name for row in rows.values() for name in row)]))
    width = max(map(len, columns), default=0)
    yield ""
    yield f"{'declared':{width}}  found"
    for name, row in rows.items():
        findings = ", ".join(
            f"{count} {'✓' if each == name else each}" for each, count in row.items()
        )
        yield f"{name:{width}}  {findings}"
    right, confident = (
        sum(trace.right for trace in traced),
        sum(trace.confident for trace in traced),
    )
    faults = len({trace.case.fault for trace in traced} - {HEALTHY})
    yield (
        f"{right} of {len(traced)} right ({100 * right / max(1, len(traced)):.0f} %), {confident} confidently wrong; "
        f"{faults} faults, median {sorted(trace.seconds for trace in traced)[len(traced) // 2] if traced else 0:.1f} s a trace"
    )


if __name__ == "__main__":
    sys.exit(main())
