"""All named faults, and the choice among them. Values."""

import difflib
from collections.abc import Sequence

from nettests.lab.errors import LabError
from nettests.lab.selftest.change_faults import CHANGE_FAULTS
from nettests.lab.selftest.configuration_faults import CONFIGURATION_FAULTS
from nettests.lab.selftest.declared import NamedFault
from nettests.lab.selftest.fleet_faults import FLEET_FAULTS
from nettests.lab.selftest.name_faults import NAME_FAULTS
from nettests.lab.selftest.node_faults import NODE_FAULTS
from nettests.lab.selftest.packet_faults import PACKET_FAULTS
from nettests.lab.selftest.places import PROFILES
from nettests.lab.selftest.pod_faults import POD_FAULTS
from nettests.lab.selftest.scale_faults import SCALE_FAULTS
from nettests.lab.selftest.service_faults import SERVICE_FAULTS
from nettests.lab.selftest.setting_faults import SETTING_FAULTS
from nettests.lab.selftest.size_and_time_faults import SIZE_AND_TIME_FAULTS
from nettests.lab.selftest.witness_faults import WITNESS_FAULTS

FAULTS: tuple[NamedFault, ...] = (
    *PACKET_FAULTS,
    *SIZE_AND_TIME_FAULTS,
    *SERVICE_FAULTS,
    *CHANGE_FAULTS,
    *NAME_FAULTS,
    *NODE_FAULTS,
    *SETTING_FAULTS,
    *CONFIGURATION_FAULTS,
    *POD_FAULTS,
    *FLEET_FAULTS,
    *SCALE_FAULTS,
    *WITNESS_FAULTS,
)
"""Every named fault, in the order in which they are tried."""


def chosen(names: Sequence[str]) -> tuple[NamedFault, ...]:
    """Return the faults of these names, all of them for none; ``LabError`` names the nearest."""
    by_name = {fault.name: fault for fault in FAULTS}
    for name in names:
        if name not in by_name:
            near = difflib.get_close_matches(name, by_name, n=1, cutoff=0.5)
            meant = f'Did you mean "{near[0]}"?' if near else "nettests lab selftest --list"
            raise LabError(f'There is no named fault "{name}".', hint=meant)
    return tuple(by_name[name] for name in dict.fromkeys(names)) if names else FAULTS


def profiles_of(names: Sequence[str], faults: Sequence[NamedFault]) -> tuple[str, ...]:
    """Return the profiles to run, those that are named or all that the faults are for."""
    for name in names:
        if name not in PROFILES:
            raise LabError(
                f'No named fault is for the profile "{name}".',
                hint=f"Profiles: {', '.join(PROFILES)}.",
            )
    chosen = names or PROFILES
    return tuple(
        profile for profile in chosen if any(profile in fault.profiles for fault in faults)
    )
