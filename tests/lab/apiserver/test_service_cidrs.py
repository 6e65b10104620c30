"""The networks of Services as the API names them: from 1.33 on, and not before."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from ipaddress import IPv6Network
from typing import Any

import pytest

from nettests.lab.apiserver import ApiSettings, Version
from nettests.lab.client import ApiError
from tests.lab.apiserver.conftest import Running

PATH = "/apis/networking.k8s.io/v1/servicecidrs"
Serve = Callable[[ApiSettings], AbstractAsyncContextManager[Running]]


def at(
    serve: Serve,
    settings: ApiSettings,
    version: str,
    request: Callable[[Running], Coroutine[Any, Any, Any]],
) -> Any:
    """Return what a server of that version answers."""

    async def run() -> Any:
        async with serve(replace(settings, version=Version(git=version))) as running:
            return await request(running)

    return asyncio.run(run())


async def listed(running: Running) -> Any:
    """Return the ServiceCIDRs, and the resources that the group is said to have."""
    async with running.client() as client:
        group = await client.get("/apis/networking.k8s.io/v1")
        names = {entry["name"] for entry in group["resources"]}
        try:
            return (await client.get(PATH))["items"], names
        except ApiError as error:
            return error.status, names


@pytest.mark.parametrize("second", [None, IPv6Network("fd00:10:96::/112")])
def test_the_default_one_names_the_networks(
    serve: Serve, settings: ApiSettings, second: IPv6Network | None
) -> None:
    """It is called ``kubernetes``, holds one network of each family, and is ready."""
    made = replace(settings, second_service_cidr=second)
    (item,), names = at(serve, made, "v1.33.5", listed)
    assert item["metadata"]["name"] == "kubernetes"
    assert item["spec"]["cidrs"] == [str(one) for one in (made.service_cidr, second) if one]
    (condition,) = item["status"]["conditions"]
    assert (condition["type"], condition["status"]) == ("Ready", "True")
    assert {"servicecidrs", "servicecidrs/status"} <= names


def test_older_releases_do_not_serve_them(serve: Serve, settings: ApiSettings) -> None:
    """1.32 has them in a beta version that is off by default: the path is not found, nor discovered."""
    answer, names = at(serve, settings, "v1.32.9", listed)
    assert answer == 404
    assert not any(name.startswith("servicecidrs") for name in names)
