"""``nettests images``: what a run on a cluster pulls, and from where, so that it can be mirrored beforehand.

Reads the cluster and the cluster profile; no registry is asked.
"""

import json
from dataclasses import asdict

import click

from nettests.cli.inspect import planned_on
from nettests.cli.options import Asked, cluster_options
from nettests.plan.cast import unusable
from nettests.plan.images import needed_images


@click.command
@cluster_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, nothing else.")
def images(*, asked: Asked, as_json: bool) -> None:
    """List the images that a run pulls, for a mirror.

    Copy them there, and name the mirror with --registry.
    """
    profile, made = planned_on(asked)
    needed = needed_images(made.plan, made.facts, profile.images)
    out = {node.name: unusable(node) for node in made.facts.nodes if unusable(node)}
    if as_json:
        data = {"images": [asdict(one) for one in needed], "left_out": out}
        click.echo(json.dumps(data, indent=2, ensure_ascii=False))
        return
    for one in needed:
        click.echo(one.image)
        if one.image != one.origin:
            click.echo(f"  a copy of {one.origin}")
        click.echo(f"  for {one.purpose} on {', '.join(one.nodes)} ({'; '.join(one.platforms)})")
    for name, reason in out.items():
        click.echo(f"{name} is left out: {reason}")
