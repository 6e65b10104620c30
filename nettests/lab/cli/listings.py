"""``nettests lab profiles``, ``profile`` and ``mechanisms``: list profiles and mechanisms, print a profile's file."""

import json

import click

from nettests.lab.cli.group import JSON, SETTINGS, lab
from nettests.lab.topology import mechanisms, profiles


@lab.command(name="profiles", epilog="Example: nettests lab profiles")
@JSON
def list_profiles(*, as_json: bool) -> None:
    """List the clusters that can be emulated."""
    available = profiles.available()
    if as_json:
        click.echo(json.dumps({p.name: p.summary for p in available}))
        return
    width = max(len(profile.name) for profile in available)
    for profile in available:
        mark = " (default)" if profile.name == profiles.DEFAULT else ""
        click.echo(f"{profile.name:<{width}}  {profile.summary}{mark}")


@lab.command(
    name="profile",
    epilog="Example: nettests lab profile win2019-l2bridge --set kubeProxy.dsr=true > dsr.yaml",
)
@click.argument("profile")
@SETTINGS
def show_profile(*, profile: str, settings: tuple[str, ...]) -> None:
    """Print a profile's YAML, with facts changed by --set.

    Use the file with `nettests run --lab FILE`, or edit it. PROFILE is a name from `nettests lab profiles`, or a file
    (*.yaml). Keys are those of `nettests forecast --to`, as far as a profile has them.
    """
    click.echo(profiles.written(profile, settings).rstrip("\n"))


@lab.command(name="mechanisms", epilog="Example: nettests lab mechanisms")
@JSON
def list_mechanisms(*, as_json: bool) -> None:
    """List the mechanisms for `lab up --mechanism`.

    A switched mechanism does not show in the API: checks expect the documented behaviour and observe another one.
    """
    if as_json:
        click.echo(
            json.dumps({mechanism.name: mechanism.summary for mechanism in mechanisms.MECHANISMS})
        )
        return
    width = max(len(mechanism.name) for mechanism in mechanisms.MECHANISMS)
    for mechanism in mechanisms.MECHANISMS:
        values = "=N" if mechanism.counts else "=on|off"
        click.echo(f"{mechanism.name + values:<{width + 7}}  {mechanism.summary}")
