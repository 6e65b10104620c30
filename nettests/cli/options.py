"""Options that several commands share: which cluster, which suites, which manifests."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click

from nettests.cli.help import SharedOption
from nettests.plan import read_classes
from nettests.plugin.lab import lab
from nettests.resources import suites_path
from nettests.session.run_options import RunOptions
from nettests.session.signals import ending_signals
from nettests.session.vendor_files import read_vendor_files
from nettests.session.webhook import VARIABLE

Command = Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonOptions:
    """What the shared options say. ``lab`` is a profile, empty for the default one."""

    options: RunOptions
    lab: str | None
    suites: tuple[Path, ...]
    flows: tuple[str, ...]

    @contextmanager
    def cluster(self) -> Iterator[RunOptions]:
        """Yield options that name a cluster; with ``--lab``, a lab that runs for the duration of the block."""
        if self.lab is None:
            yield self.options
            return
        with ending_signals(), lab(self.lab) as up:
            yield replace(
                self.options, kubeconfig=up.kubeconfig, cluster_profile=up.cluster_profile
            )


_FILE = click.Path(path_type=Path)
VENDOR_PROFILE = "--vendor-profile"

CLUSTER, IMAGES, CHECKS = "Cluster", "Images", "Checks"
"""The groups of shared options; a command takes those that change what it does."""
PULL = "pull"
"""One more of ``IMAGES``, for commands that create Pods or say what creating them takes."""

_of_cluster = partial(click.option, cls=SharedOption, heading=CLUSTER)
_of_images = partial(click.option, cls=SharedOption, heading=IMAGES)
_of_checks = partial(click.option, cls=SharedOption, heading=CHECKS)

Decorator = Callable[[Command], Command]


def suite_option(option: Callable[..., Decorator] = click.option) -> Decorator:
    """Return ``--suite``, for commands that need no cluster too."""
    return option(
        "--suite",
        "suites",
        type=_FILE,
        multiple=True,
        metavar="PATH",
        help="A suite to add to the shipped ones (repeatable).",
    )


def report_dir_option(what: str) -> Decorator:
    """Return ``--report-dir``, the folder of runs; ``what`` says what it is for."""
    return click.option(
        "--report-dir",
        type=click.Path(path_type=Path, file_okay=False),
        default=Path("reports"),
        show_default=True,
        metavar="DIR",
        help=what,
    )


def baseline_option(command: Command) -> Command:
    """Add ``--baseline``, for commands whose exit code it decides."""
    decorated: Command = click.option(
        "--baseline",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Accepted failures; nettests baseline accept writes this file.",
    )(command)
    return decorated


def metrics_option(command: Command) -> Command:
    """Add ``--metrics``, for commands that write the documents of a run."""
    decorated: Command = click.option(
        "--metrics",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Write OpenMetrics text of the finished run to this file.",
    )(command)
    return decorated


def webhook_option(command: Command) -> Command:
    """Add ``--webhook``, for commands that test a cluster."""
    decorated: Command = click.option(
        "--webhook",
        metavar="URL",
        help=f"Post a summary of the finished run there, as JSON for Slack; better by ${VARIABLE}: it is a secret.",
    )(command)
    return decorated


def limitations_option(option: Callable[..., Decorator] = click.option) -> Decorator:
    """Return ``--limitations``, for commands that need no cluster too."""
    return option(
        "--limitations",
        type=_FILE,
        multiple=True,
        metavar="PATH",
        help="A limitation manifest, or a folder of them, to add to the shipped ones (repeatable).",
    )


_OPTIONS: dict[str, tuple[Decorator, ...]] = {
    CLUSTER: (
        _of_cluster(
            "--lab",
            is_flag=False,
            flag_value="",
            metavar="[PROFILE]",
            help="Start an emulated cluster for this command, and stop it at the end.",
        ),
        _of_cluster("--kubeconfig", type=_FILE, metavar="FILE", help="Default: $KUBECONFIG."),
        _of_cluster("--context", metavar="NAME", help="Context of the kubeconfig."),
        _of_cluster(
            "--cluster-profile",
            type=_FILE,
            metavar="FILE",
            help="Facts about the cluster that its API does not show.",
        ),
        _of_cluster(
            "--namespace",
            metavar="NAME",
            help="Use this existing namespace; other objects in it are not touched.",
        ),
    ),
    IMAGES: (
        _of_images("--image", metavar="REFERENCE", help="The agnhost image of all probes."),
        _of_images(
            "--registry",
            metavar="HOST[/PATH]",
            help="Pull images from this mirror instead of their own registry.",
        ),
    ),
    PULL: (
        _of_images(
            "--pre-pull", is_flag=True, help="Pull each image onto each node before the checks."
        ),
    ),
    CHECKS: (
        suite_option(_of_checks),
        limitations_option(_of_checks),
        _of_checks(
            VENDOR_PROFILE,
            type=_FILE,
            metavar="FILE",
            help="A vendor's claims; adds its suites and limitations.",
        ),
        _of_checks(
            "--flow", "flows", multiple=True, metavar="NAME", help="This flow only (repeatable)."
        ),
        _of_checks(
            "--nodes",
            "fleet_nodes",
            metavar="WHICH",
            help="Nodes that are tested: all (default), sample (two of each node pool), or a label selector.",
        ),
        _of_checks(
            "--enable",
            multiple=True,
            metavar="CLASS,…",
            help="Also run checks of these classes: costly, exposed, disruptive, packets (repeatable).",
        ),
    ),
}


def cluster_options(*about: str) -> Callable[[Command], Command]:
    """Add the shared options of these headings to a command, which receives what they say as ``cluster_under_test``."""

    def add(command: Command) -> Command:
        @wraps(command)
        def with_common(**given: Any) -> Any:
            shared = {name: given.pop(name, default) for name, default in _DEFAULTS.items()}
            return command(common=_common(**shared), **given)

        decorated: Command = with_common
        for option in reversed([option for heading in about for option in _OPTIONS[heading]]):
            decorated = option(decorated)
        return decorated

    return add


_DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(("lab", "kubeconfig", "context", "cluster_profile", "namespace")),
    **dict.fromkeys(("image", "registry", "fleet_nodes", "vendor_profile")),
    "pre_pull": False,
    **dict.fromkeys(("suites", "limitations", "flows", "enable"), ()),
}


def _common(
    *,
    lab: str | None,
    kubeconfig: Path | None,
    context: str | None,
    cluster_profile: Path | None,
    namespace: str | None,
    image: str | None,
    registry: str | None,
    pre_pull: bool,
    suites: tuple[Path, ...],
    limitations: tuple[Path, ...],
    vendor_profile: Path | None,
    flows: tuple[str, ...],
    fleet_nodes: str | None,
    enable: tuple[str, ...],
) -> CommonOptions:
    if lab is not None and (kubeconfig or context or cluster_profile):
        raise click.UsageError(
            "--lab brings its own cluster: leave --kubeconfig, --context and --cluster-profile out"
        )
    if vendor_profile is not None:
        brought = read_vendor_files(vendor_profile)
        suites = brought.beside_suites(suites)
        limitations = brought.beside_limitations(limitations)
    options = RunOptions(
        kubeconfig=kubeconfig,
        context=context,
        cluster_profile=cluster_profile,
        manifests=limitations,
        enabled=read_classes(enable),
        namespace=namespace,
        image=image,
        registry=registry,
        pre_pull=pre_pull,
        nodes=fleet_nodes,
    )
    return CommonOptions(options=options, lab=lab, suites=(suites_path(), *suites), flows=flows)
