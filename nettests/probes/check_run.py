"""Run one check to its end: its preconditions, then its request and repeats.

Between ``observer``, which decides when, and ``attempts``, which decides how often. Any failure is
recorded in this check's ``done`` record and affects no other check. Nothing is judged here.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from nettests.errors import NettestsError
from nettests.model.channel import ChannelError
from nettests.model.check import Check
from nettests.model.json_text import read_json
from nettests.model.observation import Raw
from nettests.model.target_kinds import Location
from nettests.model.words import Question, VantageKind
from nettests.parse.serving import DNS_LABEL, DNS_PODS, serves
from nettests.probes.addresses import NotOfferedError
from nettests.probes.attempts import Attempts
from nettests.probes.families import why_lacking
from nettests.probes.origin import Capabilities, Origins
from nettests.probes.seams import Recorder, Services
from nettests.probes.sending import STOPPED, Sender


@dataclass(slots=True)
class UntilDone:
    """Forward a check's records until its ``done``; the run's own records always. Thread-safe."""

    recorder: Recorder
    _over: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def raw(self, raw: Raw) -> object:
        """Write one request and its answer, unless the check is done."""
        with self._lock:
            return raw if self._over else self.recorder.raw(raw)

    def done(
        self,
        check: str,
        *,
        distrust: str | None = None,
        skip: str | None = None,
        late: str | None = None,
    ) -> None:
        """Write the check's last record."""
        with self._lock:
            self._over = True
        self.recorder.done(check, distrust=distrust, skip=skip, late=late)

    def event(self, text: str) -> None:
        """Write an event of the run."""
        self.recorder.event(text)

    def convergence(self, *, service: str, probe: str, seconds: float, converged: bool) -> None:
        """Write how long a Service took to converge."""
        self.recorder.convergence(
            service=service, probe=probe, seconds=seconds, converged=converged
        )


OK = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRun:
    """Runs the checks of one run, each on demand; thread-safe."""

    sender: Sender
    attempts: Attempts
    origins: Origins
    capabilities: Capabilities
    problems: Mapping[str, str]
    """Why a probe is unusable, by its name."""
    single_stack: Mapping[str, str]
    """The limitation that allows a node pool's Pods a single IP family, by pool."""
    late: Callable[[str], str | None]
    """Returns, for a check id, the Service that had not converged when the check ran."""
    services: Services | None = None
    """Reads which DNS Pods serve."""

    def carry_out(
        self, check: Check, recorder: Recorder, stopped: threading.Event | None = None
    ) -> None:
        """Run and record ``check``, even if it cannot be probed; ``stopped`` ends it alone."""
        recorder = UntilDone(recorder)
        sender = replace(self.sender, recorder=recorder, stopped=stopped or self.sender.stopped)
        if sender.stopped.is_set():
            recorder.done(check.id, distrust=f"{STOPPED} before it was probed")
            return
        try:
            self._send(sender, check)
        except NotOfferedError as error:
            recorder.done(check.id, skip=error.message)
        except NettestsError as error:
            recorder.done(check.id, distrust=error.message)
        except Exception as error:  # noqa: BLE001 - one check must not take the others with it
            recorder.done(check.id, distrust=f"nettests failed: {type(error).__name__}: {error}")

    def _send(self, sender: Sender, check: Check) -> None:
        recorder = sender.recorder
        distrust = self.problems.get(check.source.probe) or self._barren(check)
        if distrust is not None:
            recorder.done(check.id, distrust=distrust)
            return
        lacking = why_lacking(check.action, self.sender.directory, self.single_stack)
        missing = lacking or self.capabilities.missing(check)
        if missing:
            recorder.done(check.id, skip=missing)
            return
        if check.source.kind is VantageKind.NODE:
            proof = self.origins.prove(check)
            if proof.raw is not None and proof.raw.check != check.id:
                recorder.raw(replace(proof.raw, check=check.id))
            if proof.distrust is not None:
                recorder.done(check.id, distrust=proof.distrust)
                return
        self.attempts.carry_out(sender, check)
        recorder.done(check.id, distrust=self._gone(check), late=self.late(check.id))

    def _barren(self, check: Check) -> str | None:
        """Return that no Pod of the run started on the node: a check's Pod would just time out.

        A Pod with the host's network starts if any other Pod of the run did.
        """
        if check.action.question is not Question.START:
            return None
        deployment, node = self.sender.directory.deployment, check.source.node or ""
        node_pods = any(pod.node == node for pod in deployment.pods.values())
        # sample: {"spec": {"securityContext": {"windowsOptions": {"hostProcess": true, …
        case = check.action.case
        on_host = case and (
            '"hostProcess": true' in case.object or '"hostNetwork": true' in case.object
        )
        return None if node_pods and on_host else deployment.barren.get(node)

    def _gone(self, check: Check) -> str | None:
        """Return that the queried DNS Pod no longer serves: then missing answers prove nothing."""
        if check.target.descriptor.location is not Location.DNS_POD or self.services is None:
            return None
        address = self.sender.directory.endpoint(check.action).server
        try:
            status, text = self.services.read(DNS_PODS, DNS_LABEL)
        except ChannelError:
            return None  # unknown: the answers count
        if status != OK:
            return None
        try:
            serving = {pod["status"]["podIP"] for pod in read_json(text)["items"] if serves(pod)}
        except (LookupError, TypeError, ValueError, AttributeError):
            return None
        return None if address in serving else f"the DNS Pod at {address} does not serve any more"
