"""Validate the options of a Job before its objects are created.

The rules are Kubernetes' rules for names, with room for the suffixes of controllers. What only the
API server knows (a StorageClass, a quota, the range of a schedule's field) is not checked.
"""

import re
from dataclasses import dataclass, field
from enum import Enum

from nettests.errors import PlanError

LABEL_LENGTH = 63
"""The maximum for names of Jobs, which are labels of Pods, and of namespaces."""
CRON_NAME_LENGTH = 52
"""The maximum for names of CronJobs, whose Jobs have eleven more characters."""
SUBDOMAIN_LENGTH = 253
# samples: "nettests", "net-tests-2"
_LABEL = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
# samples: "regcred", "team.regcred"
_SUBDOMAIN = re.compile(r"[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?")
# samples: "registry.example:5000/net/nettests:0.1.0", "nettests@sha256:9f86d081…"
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]*")
# samples: "1Gi", "500Mi", "2G"
_SIZE = re.compile(r"[1-9]\d{0,5}(?:Ki|Mi|Gi|Ti|k|M|G|T)?")
# samples: "node-role.kubernetes.io/control-plane:NoSchedule", "dedicated=infra", "CriticalAddonsOnly"
TAINT = re.compile(
    r"(?P<key>[A-Za-z0-9][\w./-]*)(?:=(?P<value>[\w.-]*))?(?::(?P<effect>NoSchedule|PreferNoSchedule|NoExecute))?"
)


# samples: "17 2 * * *", "*/30 1-5 * * mon,wed", "@daily" (robfig/cron's ParseStandard, which Kubernetes uses)
_SCHEDULE = re.compile(
    r"@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)|[\w*?,/-]+(?: [\w*?,/-]+){4}",
    re.ASCII,
)


class Role(Enum):
    """The three published roles."""

    DISCOVERY = "discovery"
    NAMESPACED = "namespaced"
    FULL = "full"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One Job or CronJob: where it is, what it runs, and with which permissions."""

    image: str
    """The image of nettests, not of its probes."""
    role: Role = Role.FULL
    name: str = "nettests"
    namespace: str = "nettests"
    """That of the Job; with the role ``namespaced`` also that of its probes."""
    schedule: str = ""
    """For a CronJob; empty for a Job."""
    claim: str = ""
    """The PersistentVolumeClaim for reports; without one they are printed at the end of the log."""
    claim_size: str = ""
    """For a claim to be created; without it, the claim must exist."""
    arguments: tuple[str, ...] = ()
    """For ``nettests run``."""
    files: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Names and contents of mounted files: a cluster profile, a baseline."""
    pull_secret: str = ""
    tolerations: tuple[str, ...] = ()
    """Taints that its Pod tolerates, as kubectl writes them."""
    webhook_secret: str = ""
    """A Secret with the webhook's address in its key ``url``."""
    deadline: float = 4 * 3600.0
    """Seconds after which Kubernetes ends the Job."""

    @property
    def own_namespace(self) -> bool:
        """Whether we create its namespace; with ``namespaced`` it must exist."""
        return self.role is not Role.NAMESPACED


def checked(wanted: Wanted) -> Wanted:
    """Return the options; ``PlanError`` if the API server would refuse them or run nothing."""
    longest = CRON_NAME_LENGTH if wanted.schedule else LABEL_LENGTH
    kind = "CronJob" if wanted.schedule else "Job"
    _require_name(f"the name of the {kind}", wanted.name, _LABEL, longest)
    _require_name("the namespace", wanted.namespace, _LABEL, LABEL_LENGTH)
    for what, name in (
        ("the name of the claim", wanted.claim),
        ("the name of the pull Secret", wanted.pull_secret),
        ("the name of the webhook's Secret", wanted.webhook_secret),
    ):
        if name:
            _require_name(what, name, _SUBDOMAIN, SUBDOMAIN_LENGTH)
    if not _IMAGE.fullmatch(wanted.image):
        raise PlanError(
            f"{wanted.image!r} is not the name of an image",
            hint="name one that holds nettests: registry/name:tag",
        )
    for taint in wanted.tolerations:
        if not TAINT.fullmatch(taint):
            raise PlanError(
                f"{taint!r} is not a taint",
                hint="KEY[=VALUE][:EFFECT]: --tolerate=node-role.kubernetes.io/control-plane:NoSchedule",
            )
    if wanted.schedule and not _SCHEDULE.fullmatch(wanted.schedule):
        raise PlanError(
            f"{wanted.schedule!r} is not a schedule",
            hint='minute, hour, day, month, weekday: --schedule="17 2 * * *"',
        )
    if wanted.claim_size and not wanted.claim:
        raise PlanError(
            f"a claim of {wanted.claim_size} has no name", hint="name it too: --claim=NAME"
        )
    if wanted.claim_size and not _SIZE.fullmatch(wanted.claim_size):
        raise PlanError(f"{wanted.claim_size!r} is not a size", hint="--claim-size=1Gi")
    if not 60 <= wanted.deadline <= 7 * 86400:
        raise PlanError(
            f"a deadline of {wanted.deadline:g} s is no limit for a run",
            hint="between a minute and seven days: --deadline=4h",
        )
    return wanted


def _require_name(what: str, name: str, form: re.Pattern[str], longest: int) -> None:
    if len(name) > longest:
        raise PlanError(
            f"{what} has {len(name)} characters, and Kubernetes takes {longest}: {name[:20]}…",
            hint="take a shorter one",
        )
    if not form.fullmatch(name):
        raise PlanError(
            f"{what} cannot be {name!r}",
            hint="Kubernetes takes lower-case letters, digits and hyphens, and neither end is a hyphen",
        )
