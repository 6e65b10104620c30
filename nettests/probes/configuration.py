"""Take the readings that a configuration rule needs, from the API server and Windows nodes.

The examiner of ``INSPECT``. Only what rules use is recorded, because readings contain other
tenants' objects (``rules.readings``); ``parse.inspection`` decides later whether it conforms. If
the API server or a tool rejects a reading, it has a problem; a failing channel makes the answer
untrusted.

PowerShell alone takes seconds to start, so one process takes many readings of a Windows node, and
marks surround each output as in calibrations (``known_questions``). A reading that failed is taken
again by a process of its own, because one process has one stream for all errors.
"""

import json
import re
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from nettests.model.calibration import begins, ended
from nettests.model.channel import ChannelError, ExecAnswer, ExecChannel, ProgramMissingError
from nettests.model.check import Action, Check
from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.model.grouping import grouped
from nettests.model.json_text import read_json
from nettests.model.powershell import BEGIN, FIRST_USE_SECONDS, POWERSHELL, first_use
from nettests.model.windows_programs import ChangedByCmdError
from nettests.model.words import OS, Question
from nettests.parse.inspection import RULE
from nettests.plan.node_pools import host_probe
from nettests.probes.addresses import NotOfferedError
from nettests.probes.examine import API, Examination, case_of
from nettests.probes.known_questions import by_cmd, by_shell, in_sections
from nettests.probes.rerun import TOOL_HANGS_SECONDS, Rerunning
from nettests.probes.seams import ApiServer
from nettests.probes.sending import Probe
from nettests.probes.together import EACH_SECONDS
from nettests.rules import RULES, Evidence, NothingThereError, UnreadableError, peers
from nettests.rules.readings import (
    UNEXPECTED,
    ApiObjects,
    OfPeers,
    PodLog,
    Reading,
    Request,
    ToolOutput,
    is_taken,
    log_of,
    reduced,
)
from nettests.rules.subjects import known_facts, why_not_about

Row = tuple[tuple[str, ...], tuple[ToolOutput, ...]]
"""The argv of a process, and the readings that it takes."""


def rows(readings: Sequence[ToolOutput]) -> Iterator[Row]:
    """Yield the processes that take as many of these readings as one command line has room for.

    Not yielded is what ``cmd`` would change: words with blanks need quotes, ``!`` is expanded.
    """
    fitting = tuple(
        each
        for each in readings
        if _by_powershell(each) or not any(re.search(r"[\s!]", word) for word in each.words)
    )
    if len(fitting) < 2:
        return
    try:
        yield by_shell(OS.WINDOWS, *_lines(fitting)), fitting
    except ChangedByCmdError:
        half = len(fitting) // 2
        yield from rows(fitting[:half])
        yield from rows(fitting[half:])


def answers(readings: Sequence[ToolOutput], stdout: str) -> Iterator[tuple[str, ExecAnswer]]:
    """Yield the name and answer of each reading, unless it failed and has errors elsewhere."""
    for number, each in enumerate(readings):
        # sample: ~0~⏎Microsoft Windows [Version 10.0.20348.3207]⏎~0.0~⏎~1~⏎[]⏎[[end]]⏎~1.0~
        mark = rf"~{number}~ *\r?\n(.*?)~{number}\.(-?\d+)~"
        match = re.search(mark, stdout, re.DOTALL)
        if match and (match[2] == "0" or each.words[-1] == "2>&1"):
            yield each.name, ExecAnswer(exit_code=int(match[2]), stdout=match[1], stderr="")


def _by_powershell(reading: ToolOutput) -> bool:
    return reading.words[:-1] == POWERSHELL and not re.search("[!%]", reading.words[-1])


def _lines(readings: Sequence[ToolOutput]) -> Iterator[str]:
    scripts: dict[int, str] = {}
    for number, each in enumerate(readings):
        if _by_powershell(each):
            scripts[number] = each.words[-1].removeprefix(f"{BEGIN}; ")
        else:
            yield f"echo {begins(number)}"
            yield by_cmd(each.words, on_node=True)
            yield f"echo {ended(number, '!errorlevel!')}"
    if scripts:
        yield by_cmd((*POWERSHELL, in_sections(scripts)), on_node=True)


OK = 200


def rules_by_probe(checks: Iterable[Check]) -> dict[str, list[str]]:
    """Return the rules that these checks examine, by the probe that reads for them."""
    return grouped(
        (action.source.probe, case_of(action).label)
        for action in (check.action for check in checks)
        if action.question is Question.INSPECT
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """One reading: its command, and its text or why there is none."""

    words: tuple[str, ...]
    text: str = ""
    problem: str = ""


@dataclass(slots=True, kw_only=True)
class Inspection:
    """Inspects one cluster; thread-safe. Each reading of a node is taken once and cached."""

    api: ApiServer
    facts: ClusterFacts
    probes: Mapping[str, Probe]
    seconds: float
    """Time limit of a process on a node."""
    planned: Mapping[str, Collection[str]] = field(default_factory=dict)
    """The rules of the plan by probe: what they read of a node is taken together."""
    _taken: dict[str, Taken] = field(default_factory=dict)
    _rows: dict[str, dict[str, ExecAnswer]] = field(default_factory=dict)
    _locks: dict[str, threading.Lock] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def examine(self, action: Action) -> Examination:
        """Take every reading that the case's rule needs."""
        name = case_of(action).label
        node = self.facts.node(action.source.node) if action.source.node else None
        context = {RULE: name, **known_facts(self.facts, node)}
        _skip_if_not_about(name, self.facts, node)
        reads = RULES[name].reads if name in RULES else ()
        wanted = tuple(reading for reading in reads if is_taken(reading, self.facts, node))
        try:
            results = {
                reading.name: self._take(reading, node, action.source.probe) for reading in wanted
            }
        except ChannelError as error:
            words = tuple(reading.name for reading in wanted)
            return Examination(tool="inspection", words=words, error=error.message, context=context)
        texts = {key: result.text for key, result in results.items() if not result.problem}
        problems = {key: result.problem for key, result in results.items() if result.problem}
        _skip_if_nothing_is_there(name, Evidence(texts=texts, problems=problems, facts=context))
        on_node = any(isinstance(reading, ToolOutput | OfPeers) for reading in wanted)
        return Examination(
            tool="inspection",
            channel="exec" if on_node else API,
            words=tuple(" ".join(result.words) for result in results.values()),
            stdout=json.dumps({"readings": texts, "problems": problems}),
            context=context,
        )

    def _take(self, reading: Reading, node: NodeFacts | None, probe: str) -> Taken:
        key = f"{node.name if node else API}/{reading.name}"
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key not in self._taken:
                result = self._read(reading, node, probe)
                self._taken[key] = replace(result, text=reduced(reading, result.text))
            return self._taken[key]

    def _read(self, reading: Reading, node: NodeFacts | None, probe: str) -> Taken:
        match reading:
            case ApiObjects():
                return self._probed(reading.request(self.facts, node))
            case ToolOutput():
                return self._run(reading, probe)
            case PodLog():
                return self._log(reading, node, probe)
            case OfPeers():
                return self._of_peers(reading, node)

    def _of_peers(self, reading: OfPeers, node: NodeFacts | None) -> Taken:
        """Take a reading on each node of the pool with such a probe; skip unreadable nodes."""
        texts = {}
        for peer in self.facts.nodes if node else ():
            its_probe = host_probe(peer)
            if node and peer.pool == node.pool and its_probe in self.probes:
                with suppress(ChannelError):
                    done = self._take(reading.of, peer, its_probe)
                    if not done.problem and not done.text.startswith(UNEXPECTED):
                        of_pods = self.facts.pod_cidrs.value or ()
                        texts[peer.name] = peers.of_peer(reading, done.text, peer, of_pods)
        return Taken(words=reading.words, text=json.dumps(texts))

    def _probed(self, request: Request) -> Taken:
        status, text = self.api.read(request.path, request.query)
        if status != OK:
            return Taken(words=request.words, problem=f"{request.words[1]}: status {status}")
        return Taken(words=request.words, text=text)

    def _run(self, reading: ToolOutput, name: str) -> Taken:
        """Run a tool on the node; if it fails, return the problem and ignore its output."""
        words = reading.words
        probe = self.probes.get(name)
        execute = probe.execute if probe else None
        if execute is None:
            raise ChannelError(f"{name} has no exec channel")
        got = self._in_a_row(name, execute).get(reading.name)
        try:
            got = got or self._started(execute, words)
        except ProgramMissingError as error:
            return Taken(words=words, problem=error.message)
        if got.exit_code != 0:
            output = " ".join((got.stderr.strip() or got.stdout).split()) or "it said nothing"
            return Taken(words=words, problem=f"{words[0]} ended with {got.exit_code}: {output}")
        return Taken(words=words, text=got.stdout)

    def _started(self, execute: ExecChannel, words: Sequence[str], longer: float = 0) -> ExecAnswer:
        with execute.slots:
            tools = Rerunning(channel=execute, beyond=TOOL_HANGS_SECONDS + longer)
            return tools.run(words, timeout=self.seconds + first_use(words) + longer)

    def _in_a_row(self, name: str, execute: ExecChannel) -> Mapping[str, ExecAnswer]:
        """Return the answers to all planned readings of a node, as far as one process took them."""
        with self._lock:
            lock = self._locks.setdefault(f"{name}/", threading.Lock())
        with lock:
            if name not in self._rows:
                self._rows[name] = {}
                wanted = {reading.name: reading for reading in self._planned(name)}
                for words, readings in rows(tuple(wanted.values())):
                    with suppress(ChannelError):
                        longer = FIRST_USE_SECONDS + len(readings) * EACH_SECONDS
                        got = self._started(execute, words, longer)
                        self._rows[name].update(answers(readings, got.stdout))
            return self._rows[name]

    def _planned(self, name: str) -> Iterator[ToolOutput]:
        node = next((node for node in self.facts.nodes if host_probe(node) == name), None)
        for rule in (RULES[each] for each in self.planned.get(name, ()) if each in RULES):
            for reading in (each.of if isinstance(each, OfPeers) else each for each in rule.reads):
                if isinstance(reading, ToolOutput) and is_taken(reading, self.facts, node):
                    yield reading

    def _log(self, reading: PodLog, node: NodeFacts | None, probe: str) -> Taken:
        """Read the log of a component's Pod on the node, found by an earlier reading of Pods."""
        pods = self._take(reading.pods, node, probe)
        if pods.problem:
            return Taken(words=("GET", "log"), problem=pods.problem)
        try:
            listed = read_json(pods.text)["items"]
        except (LookupError, TypeError, ValueError) as error:
            raise ChannelError(f"the Pods of the node cannot be read: {error}") from error
        for pod in listed:
            metadata = pod["metadata"]
            if metadata["name"].startswith(reading.component):
                container = pod["spec"]["containers"][0]["name"]
                return self._probed(log_of(metadata["namespace"], metadata["name"], container))
        return Taken(words=("GET", "log"), problem=f"no {reading.component} Pod runs on this node")


def _skip_if_not_about(name: str, facts: ClusterFacts, node: NodeFacts | None) -> None:
    """Raise ``NotOfferedError`` if a fact learned since planning rules the check out."""
    for subject in RULES[name].about if name in RULES and node is not None else ():
        reason = why_not_about(subject, facts, node) if subject.reported is not None else ""
        if reason:
            raise NotOfferedError(reason)


def _skip_if_nothing_is_there(name: str, evidence: Evidence) -> None:
    """Raise ``NotOfferedError`` if the rule has nothing to look at; the rest is judged later."""
    if name not in RULES:
        return
    try:
        RULES[name].demand(evidence)
    except NothingThereError as error:
        raise NotOfferedError(error.message) from error
    except (UnreadableError, KeyError, IndexError, TypeError, ValueError, AttributeError):
        return
