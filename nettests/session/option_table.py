"""The options that ``nettests run`` and plain pytest share, each declared once.

``cli.options`` makes click's options of them, ``plugin.pytest_options`` pytest's, and ``nettests run`` passes its own on
as pytest's. Every pytest run in the environment imports this module: it imports nothing that takes time.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nettests.model.words import FailOn

OWN, CLUSTER, IMAGES, CHECKS = "Options", "Cluster", "Images", "Checks"
"""The headings of options in a command's help; a command takes those that change what it does."""
PULL = "pull"
"""One more of ``IMAGES``, for commands that create Pods or say what creating them takes."""
IDS = "ids"
"""One more of ``CHECKS``, for commands that plan as a run does."""
WEBHOOK_VARIABLE = "NETTESTS_WEBHOOK"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOption:
    """One option; without ``metavar`` it is a switch. ``bare`` is its value where it is written without one."""

    flag: str
    help: str
    metavar: str = ""
    group: str = OWN
    many: bool = False
    bare: str | None = None
    choices: tuple[str, ...] = ()
    in_pytest: str = ""
    """Its name for pytest, where ours has another meaning."""
    cli_only: bool = False
    """Whether pytest does without it: it is given suites as paths, for example."""

    @property
    def name(self) -> str:
        """What click and pytest call its value."""
        return self.flag.lstrip("-").replace("-", "_")

    @property
    def pytest_flag(self) -> str:
        """How it is written for pytest."""
        return self.in_pytest or self.flag


OPTIONS = (
    RunOption(
        flag="--lab",
        metavar="[PROFILE]",
        group=CLUSTER,
        bare="",
        help="Start an emulated cluster for this command, and stop it at the end.",
    ),
    RunOption(flag="--kubeconfig", metavar="FILE", group=CLUSTER, help="Default: $KUBECONFIG."),
    RunOption(flag="--context", metavar="NAME", group=CLUSTER, help="Context of the kubeconfig."),
    RunOption(
        flag="--cluster-profile",
        metavar="FILE|NAME",
        group=CLUSTER,
        help="Facts about the cluster that its API does not show; `nettests list cluster-profiles` has those that are ready.",
    ),
    RunOption(
        flag="--namespace",
        metavar="NAME",
        group=CLUSTER,
        help="Use this existing namespace; other objects in it are not touched.",
    ),
    RunOption(
        flag="--image",
        metavar="REFERENCE",
        group=IMAGES,
        help="The agnhost image of all probes.",
    ),
    RunOption(
        flag="--registry",
        metavar="HOST[/PATH]",
        group=IMAGES,
        help="Pull images from this mirror instead of their own registry.",
    ),
    RunOption(
        flag="--pull-secret",
        metavar="[NAMESPACE/]NAME",
        group=IMAGES,
        help="Pull images by this Secret: one in --namespace, or else a copy of it in the run's namespace.",
    ),
    RunOption(
        flag="--pre-pull", group=PULL, help="Pull each image onto each node before the checks."
    ),
    RunOption(
        flag="--suite",
        metavar="PATH",
        group=CHECKS,
        many=True,
        cli_only=True,
        help="A suite to add to the shipped ones (repeatable).",
    ),
    RunOption(
        flag="--limitations",
        metavar="PATH",
        group=CHECKS,
        many=True,
        help="A limitation manifest, or a folder of them, to add to the shipped ones (repeatable).",
    ),
    RunOption(
        flag="--vendor-profile",
        metavar="FILE",
        group=CHECKS,
        cli_only=True,
        help="A vendor's claims; adds its suites and limitations.",
    ),
    RunOption(
        flag="--flow",
        metavar="PATTERN",
        group=CHECKS,
        many=True,
        help="Only flows of this name; 'pod-to-*' matches several, '!dns-*' leaves some out (repeatable).",
    ),
    RunOption(
        flag="--check",
        metavar="PATTERN",
        group=IDS,
        many=True,
        help="Only checks whose id matches, with * and ! as in --flow (repeatable).",
    ),
    RunOption(
        flag="--nodes",
        metavar="WHICH",
        group=CHECKS,
        help="Nodes that are tested: all (default), sample (two of each node pool), names with commas, or a label selector.",
    ),
    RunOption(
        flag="--exclude-node",
        metavar="NAME",
        group=CHECKS,
        many=True,
        help="Do not test this node (repeatable).",
    ),
    RunOption(
        flag="--enable",
        metavar="CLASS,…",
        group=CHECKS,
        many=True,
        help="Also run checks of these classes: costly, exposed, disruptive, packets (repeatable).",
    ),
    RunOption(
        flag="--rerun-failed",
        metavar="[RUN]",
        bare="latest",
        help="Only what failed, was lifted, flaky or unknown in RUN, by default in the latest run.",
    ),
    RunOption(flag="--keep", help="Keep the objects; print how to inspect and remove them."),
    RunOption(flag="--keep-on-failure", help="Keep the objects if the run ends with 1 or 6."),
    RunOption(
        flag="--trace",
        in_pytest="--trace-incidents",
        help="If checks fail: trace where packets of the leading incidents are lost, as nettests trace does.",
    ),
    RunOption(
        flag="--fail-on",
        metavar="WHAT",
        many=True,
        choices=tuple(choice.value for choice in FailOn),
        help="known-bugs: exit with 1 instead of 8 if known bugs show. new: exit with 1 only for failures that --baseline does not accept.",
    ),
    RunOption(
        flag="--baseline",
        metavar="FILE",
        help="Accepted failures; nettests baseline accept writes this file.",
    ),
    RunOption(
        flag="--metrics",
        metavar="FILE",
        help="Write OpenMetrics text of the finished run to this file.",
    ),
    RunOption(
        flag="--webhook",
        metavar="URL",
        help=f"Post a summary of the finished run there, as JSON for Slack; better by ${WEBHOOK_VARIABLE}: it is a secret.",
    ),
)


NAMED = {option.flag: option for option in OPTIONS}


def words_of(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield options as pytest's command line takes them; ``values`` are by the options' names."""
    for option in OPTIONS:
        if option.cli_only:
            continue
        value, flag = values.get(option.name), option.pytest_flag
        if not option.metavar:
            yield from [flag] if value else []
        elif option.many:
            yield from (f"{flag}={each}" for each in value or ())
        elif value is not None:
            yield f"{flag}={value}"
