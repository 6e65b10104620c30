"""``nettests images``: the images that a run pulls, and their registries, to be mirrored beforehand.

Reads the cluster and the cluster profile. No registry is contacted, so a digest is known only if a node already has
the image.
"""

from contextlib import closing
from dataclasses import asdict
from typing import Any

import click

from nettests import terminal
from nettests.cli.discover_commands import planned_on
from nettests.cli.help import Command
from nettests.cli.options import CHECKS, CLUSTER, IDS, IMAGES, CommonOptions, cluster_options
from nettests.cli.output_options import json_option
from nettests.cluster import connect
from nettests.cluster.digests import digests_of
from nettests.model.cluster_profile import ClusterProfile
from nettests.plan.images import needed_images
from nettests.plan.node_pools import unusable
from nettests.session.run_options import RunOptions


@click.command(
    cls=Command,
    example="nettests images --kubeconfig ~/.kube/config --registry=registry.example/mirror",
)
@cluster_options(CLUSTER, IMAGES, CHECKS, IDS)
@click.option(
    "--digests", is_flag=True, help="Name each image by its digest, as reported by the nodes."
)
@json_option()
def images(*, common: CommonOptions, digests: bool, as_json: bool) -> None:
    """List the images that a run pulls, for a mirror.

    Copy them there, and name the mirror with --registry.
    """
    nodes: list[dict[str, Any]] = []

    def read_nodes(options: RunOptions, profile: ClusterProfile) -> None:
        connection = connect(options.kubeconfig, options.context, profile.timing)
        with closing(connection):
            nodes.extend(connection.items("/api/v1/nodes"))

    profile, blueprint = planned_on(common, read_nodes if digests else None)
    needed = needed_images(blueprint.plan, blueprint.facts, profile.images)
    known_digests = digests_of(nodes, [image.image for image in needed]) if digests else {}
    out = {node.name: unusable(node) for node in blueprint.facts.nodes if unusable(node)}
    if as_json:
        listed = [
            {**asdict(image), **({"digests": known_digests[image.image]} if digests else {})}
            for image in needed
        ]
        data = {"images": listed, "left_out": out}
        terminal.document(data)
        return
    for image in needed:
        terminal.line(image.image)
        for line in _pinned(known_digests[image.image]) if digests else ():
            terminal.line(f"  {line}")
        if image.image != image.origin:
            terminal.line(f"  a copy of {image.origin}")
        terminal.line(
            f"  for {image.purpose} on {', '.join(image.nodes)} ({'; '.join(image.platforms)})"
        )
    for name, reason in out.items():
        terminal.line(f"{name} is left out: {reason}")


def _pinned(references: tuple[str, ...]) -> tuple[str, ...]:
    """Return the digests of an image that nodes know, or how to find one."""
    if not references:
        return (
            "digest not known: no node names one; run once with --pre-pull, or query the registry",
        )
    if len(references) > 1:
        return ("nodes have different images by this name:", *references)
    return references
