"""Options that several commands share: which cluster, which suites, which manifests."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from nettests.plan import read_classes
from nettests.plugin.lab import lab
from nettests.resources import suites_path
from nettests.session.run_options import RunOptions
from nettests.session.signals import ending_signals

Command = Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the shared options say. ``lab`` is a profile, empty for the default one."""

    options: RunOptions
    lab: str | None
    suites: tuple[Path, ...]
    flows: tuple[str, ...]

    @contextmanager
    def cluster(self) -> Iterator[RunOptions]:
        """Give options that name a cluster, which is a lab for the time of the block if one is asked for."""
        if self.lab is None:
            yield self.options
            return
        with ending_signals(), lab(self.lab) as up:
            yield replace(
                self.options, kubeconfig=up.kubeconfig, cluster_profile=up.cluster_profile
            )


_FILE = click.Path(path_type=Path)

_OPTIONS = (
    click.option(
        "--lab",
        is_flag=False,
        flag_value="",
        metavar="[PROFILE]",
        help="Bring up an emulated cluster for this, and take it down again.",
    ),
    click.option("--kubeconfig", type=_FILE, metavar="FILE", help="Default: $KUBECONFIG."),
    click.option("--context", metavar="NAME", help="Context of the kubeconfig."),
    click.option(
        "--cluster-profile", type=_FILE, metavar="FILE", help="What a kubeconfig cannot say."
    ),
    click.option(
        "--namespace",
        metavar="NAME",
        help="Use this existing namespace; nothing in it that is not ours is touched.",
    ),
    click.option("--image", metavar="REFERENCE", help="The agnhost image of all probes."),
    click.option(
        "--registry",
        metavar="HOST[/PATH]",
        help="Where images are mirrored: takes the place of the registry in their names.",
    ),
    click.option(
        "--pre-pull",
        is_flag=True,
        help="Pull each image onto each node before anything is asked.",
    ),
    click.option(
        "--suite",
        "suites",
        type=_FILE,
        multiple=True,
        metavar="PATH",
        help="A suite beside the shipped ones (repeatable).",
    ),
    click.option(
        "--limitations",
        type=_FILE,
        multiple=True,
        metavar="PATH",
        help="A limitation manifest, or a folder of them, beside the shipped ones (repeatable).",
    ),
    click.option(
        "--flow", "flows", multiple=True, metavar="NAME", help="This flow only (repeatable)."
    ),
    click.option(
        "--enable",
        multiple=True,
        metavar="CLASS,…",
        help="Ask checks of these classes too: costly, exposed, disruptive (repeatable).",
    ),
)


def cluster_options(command: Command) -> Command:
    """Add the shared options to a command, which receives them as ``asked``."""

    @wraps(command)
    def with_asked(
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
        flows: tuple[str, ...],
        enable: tuple[str, ...],
        **others: Any,
    ) -> Any:
        if lab is not None and (kubeconfig or context or cluster_profile):
            raise click.UsageError(
                "--lab brings its own cluster: leave --kubeconfig, --context and --cluster-profile out"
            )
        asked = Asked(
            options=RunOptions(
                kubeconfig=kubeconfig,
                context=context,
                cluster_profile=cluster_profile,
                manifests=limitations,
                enabled=read_classes(enable),
                namespace=namespace,
                image=image,
                registry=registry,
                pre_pull=pre_pull,
            ),
            lab=lab,
            suites=(suites_path(), *suites),
            flows=flows,
        )
        return command(asked=asked, **others)

    for option in reversed(_OPTIONS):
        with_asked = option(with_asked)
    return with_asked
