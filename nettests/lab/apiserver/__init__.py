"""The lab's API server: a Kubernetes API in one process, faithful to recorded answers of a real one.

``create_app`` makes an aiohttp application from a ``Store``, the kubelets, a dialer and
``ApiSettings``; ``start`` serves it on a socket. Scheduler, node agents, controllers and proxies are
clients of it over HTTP and no part of it.
"""

from nettests.lab.apiserver.access import Access
from nettests.lab.apiserver.app import SERVER, create_app, start
from nettests.lab.apiserver.request import Request
from nettests.lab.apiserver.responses import failure
from nettests.lab.apiserver.settings import (
    ApiSettings,
    ChannelRequest,
    Ending,
    Faults,
    Rule,
    User,
    Version,
    administrator,
    component,
)
from nettests.lab.apiserver.status import ApiError, unauthorized
from nettests.lab.apiserver.store import Store

__all__ = [
    "SERVER",
    "Access",
    "ApiError",
    "ApiSettings",
    "ChannelRequest",
    "Ending",
    "Faults",
    "Request",
    "Rule",
    "Store",
    "User",
    "Version",
    "administrator",
    "component",
    "create_app",
    "failure",
    "start",
    "unauthorized",
]
