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


@dataclass(frozen=True, slots=True)
class RunOption:
    """One option; with an empty ``metavar`` it is a switch. ``bare`` is its value where it is written without one."""

    flag: str
    group: str
    metavar: str
    help: str
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
        "--lab",
        CLUSTER,
        "[PROFILE]",
        "Start an emulated cluster for this command, and stop it at the end.",
        bare="",
    ),
    RunOption("--kubeconfig", CLUSTER, "FILE", "Default: $KUBECONFIG."),
    RunOption("--context", CLUSTER, "NAME", "Context of the kubeconfig."),
    RunOption(
        "--cluster-profile",
        CLUSTER,
        "FILE|NAME",
        "Facts about the cluster that its API does not show; `nettests list cluster-profiles` "
        "has those that are ready.",
    ),
    RunOption(
        "--namespace",
        CLUSTER,
        "NAME",
        "Use this existing namespace; other objects in it are not touched.",
    ),
    RunOption("--image", IMAGES, "REFERENCE", "The agnhost image of all probes."),
    RunOption(
        "--registry",
        IMAGES,
        "HOST[/PATH]",
        "Pull images from this mirror instead of their own registry.",
    ),
    RunOption(
        "--pull-secret",
        IMAGES,
        "[NAMESPACE/]NAME",
        "Pull images by this Secret: one in --namespace, or else a copy of it in the run's "
        "namespace.",
    ),
    RunOption("--pre-pull", PULL, "", "Pull each image onto each node before the checks."),
    RunOption(
        "--suite",
        CHECKS,
        "PATH",
        "A suite to add to the shipped ones (repeatable).",
        many=True,
        cli_only=True,
    ),
    RunOption(
        "--limitations",
        CHECKS,
        "PATH",
        "A limitation manifest, or a folder of them, to add to the shipped ones (repeatable).",
        many=True,
    ),
    RunOption(
        "--vendor-profile",
        CHECKS,
        "FILE",
        "A vendor's claims; adds its suites and limitations.",
        cli_only=True,
    ),
    RunOption(
        "--flow",
        CHECKS,
        "PATTERN",
        "Only flows of this name; 'pod-to-*' matches several, '!dns-*' leaves some out "
        "(repeatable).",
        many=True,
    ),
    RunOption(
        "--check",
        IDS,
        "PATTERN",
        "Only checks whose id matches, with * and ! as in --flow (repeatable).",
        many=True,
    ),
    RunOption(
        "--nodes",
        CHECKS,
        "WHICH",
        "Nodes that are tested: all (default), sample (two of each node pool), names with "
        "commas, or a label selector.",
    ),
    RunOption("--exclude-node", CHECKS, "NAME", "Do not test this node (repeatable).", many=True),
    RunOption(
        "--enable",
        CHECKS,
        "CLASS,…",
        "Also run checks of these classes: costly, exposed, disruptive, packets (repeatable).",
        many=True,
    ),
    RunOption(
        "--rerun-failed",
        OWN,
        "[RUN]",
        "Only what failed, was lifted, flaky or unknown in RUN, by default in the latest run.",
        bare="latest",
    ),
    RunOption("--keep", OWN, "", "Keep the objects; print how to inspect and remove them."),
    RunOption("--keep-on-failure", OWN, "", "Keep the objects if the run ends with 1 or 6."),
    RunOption(
        "--trace",
        OWN,
        "",
        "If checks fail: trace where packets of the leading incidents are lost, as nettests "
        "trace does.",
        in_pytest="--trace-incidents",
    ),
    RunOption(
        "--fail-on",
        OWN,
        "WHAT",
        "known-bugs: exit with 1 instead of 8 if known bugs show. new: exit with 1 only for "
        "failures that --baseline does not accept.",
        many=True,
        choices=tuple(choice.value for choice in FailOn),
    ),
    RunOption(
        "--baseline", OWN, "FILE", "Accepted failures; nettests baseline accept writes this file."
    ),
    RunOption("--metrics", OWN, "FILE", "Write OpenMetrics text of the finished run to this file."),
    RunOption(
        "--webhook",
        OWN,
        "URL",
        "Post a summary of the finished run there, as JSON for Slack; better by "
        "$NETTESTS_WEBHOOK: it is a secret.",
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
