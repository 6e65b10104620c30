"""The profiles that named faults are for, and groups of checks that many of them may turn. Values."""

from nettests.lab.selftest.declared import Checks

BRIDGE = "win2022-l2bridge-dsr"
OVERLAY = "win2019-overlay"
OLD_BRIDGE = "win2019-l2bridge"
PROFILES = (BRIDGE, OVERLAY, OLD_BRIDGE)
EVERYWHERE = PROFILES
"""Of each kind of network one: routed with DSR, overlay, and the oldest that is supported."""

PATHS = (
    # A Service or a node answers for backends on several nodes: the check names one end of them.
    Checks(flow="nodeport-*"),
    Checks(flow="service-*"),
    Checks(flow="session-affinity"),
    Checks(flow="etp-*"),
    Checks(flow="itp-*"),
    Checks(flow="hostport-*"),
)
"""What may cross nodes that the check does not name: backends of its Service, whoever dials them."""
