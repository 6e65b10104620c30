"""The user's options of a run, and its progress as values.

Created from the command line or pytest options; read by every stage.
"""

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from nettests.model.words import CheckClass
from nettests.plan import Choice


class Keep(Enum):
    """Whether a run keeps its objects in the cluster."""

    NEVER = "never"
    ON_FAILURE = "on-failure"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What a user wants.

    ``manifests`` are the user's own limitation manifests (files or folders), added to the shipped
    ones; ``enabled`` are the classes of checks to run besides ``default``; ``keep`` is whether
    objects are kept; ``suites`` and ``argv`` are only recorded. ``namespace`` is an existing one to
    use instead of creating one; ``image`` and ``registry`` override the cluster profile, and
    ``pull_secret`` adds to it; ``pre_pull`` pulls every image before the probes are created.
    ``nodes`` and ``excluded_nodes`` select the nodes, ``choice`` the checks; ``trace`` traces the
    leading incidents before clean-up.
    """

    kubeconfig: Path | None = None
    context: str | None = None
    cluster_profile: Path | None = None
    report_dir: Path = Path("reports")
    manifests: tuple[Path, ...] = ()
    enabled: frozenset[CheckClass] = frozenset()
    keep: Keep = Keep.NEVER
    namespace: str | None = None
    image: str | None = None
    registry: str | None = None
    pull_secret: str | None = None
    pre_pull: bool = False
    trace: bool = False
    nodes: str | None = None
    excluded_nodes: tuple[str, ...] = ()
    choice: Choice = field(default_factory=Choice)
    suites: tuple[str, ...] = ()
    argv: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is.

    ``stage`` is ``pull``, ``deploy``, ``converge``, ``observe``, ``diagnose``, ``trace``, ``clean
    up`` or ``done``. ``done`` of ``total`` counts images on nodes while pulling, Pods while
    deploying, Services while converging, checks while observing, subjects while diagnosing.
    """

    stage: str
    done: int = 0
    total: int = 0
    detail: str = ""
