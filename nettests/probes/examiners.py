"""The table of examiners: one for each ``Question`` that takes more than one request or command."""

import threading
from collections.abc import Mapping

from nettests.model.check import Plan
from nettests.model.cluster_profile import Timing
from nettests.model.facts import ClusterFacts
from nettests.model.words import Question
from nettests.probes.configuration import Inspection, rules_by_probe
from nettests.probes.deployment import StandingPod, StandingService
from nettests.probes.during_changes import DuringChanges
from nettests.probes.examine import Admission, Examiner
from nettests.probes.idle_connection import IdleConnection
from nettests.probes.many_services import ManyServices
from nettests.probes.objects import Blank
from nettests.probes.seams import Examined
from nettests.probes.sending import Probe
from nettests.probes.service_in_use import Setting
from nettests.probes.starting import Starting


def examiners(
    api: Examined,
    blank: Blank,
    facts: ClusterFacts,
    probes: Mapping[str, Probe],
    timing: Timing,
    *,
    standing: Mapping[str, StandingPod],
    services: Mapping[str, StandingService],
    stopped: threading.Event,
    plan: Plan,
) -> dict[Question, Examiner]:
    """Return the examiners of a run by question."""
    return {
        Question.ADMIT: Admission(
            api=api,
            namespace=blank.namespace,
            level=blank.pod_security,
            runtime_classes=facts.runtime_classes.value or (),
            planned=tuple(check.action for check in plan.each),
        ),
        Question.INSPECT: Inspection(
            api=api,
            facts=facts,
            probes=probes,
            seconds=timing.execute,
            planned=rules_by_probe(plan.each),
        ),
        Question.START: Starting(
            pods=api, blank=blank, facts=facts, timing=timing, standing=standing, services=services
        ),
        Question.IDLE: IdleConnection(
            talks=api,
            namespace=blank.namespace,
            facts=facts,
            standing=standing,
            services=services,
            timing=timing,
            stopped=stopped,
        ),
        Question.DURING: DuringChanges(
            setting=Setting(
                api=api,
                namespace=blank.namespace,
                probes=probes,
                standing=standing,
                services=services,
                timing=timing,
                stopped=stopped,
            )
        ),
        Question.SCALE: ManyServices(
            making=api,
            blank=blank,
            facts=facts,
            probes=probes,
            timing=timing,
            standing=standing,
            services=services,
            stopped=stopped,
        ),
    }
