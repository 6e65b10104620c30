"""The lab's API server: a Kubernetes API in one process, faithful to recorded answers of a real one.

``create_app`` makes an aiohttp application from a ``Store``, the kubelets, a function that dials, and
``ApiSettings``; ``start`` serves it on a socket. Scheduler, node agents, controllers and proxies are
its clients, over HTTP.
"""

from nettests.lab.apiserver.access import Access as Access
from nettests.lab.apiserver.app import SERVER as SERVER
from nettests.lab.apiserver.app import create_app as create_app
from nettests.lab.apiserver.app import start as start
from nettests.lab.apiserver.request import Request as Request
from nettests.lab.apiserver.responses import failure as failure
from nettests.lab.apiserver.settings import ApiSettings as ApiSettings
from nettests.lab.apiserver.settings import ChannelRequest as ChannelRequest
from nettests.lab.apiserver.settings import Ending as Ending
from nettests.lab.apiserver.settings import Faults as Faults
from nettests.lab.apiserver.settings import Rule as Rule
from nettests.lab.apiserver.settings import User as User
from nettests.lab.apiserver.settings import Version as Version
from nettests.lab.apiserver.settings import administrator as administrator
from nettests.lab.apiserver.settings import component as component
from nettests.lab.apiserver.status import ApiError as ApiError
from nettests.lab.apiserver.status import unauthorized as unauthorized
from nettests.lab.apiserver.store import Store as Store
