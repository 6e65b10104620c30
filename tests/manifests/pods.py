"""What is expected of pods on the lab's profiles: the lines of the golden list about admission and start."""

from collections.abc import Iterator

from tests.facts import PROFILES

OLD_FIELDS = {
    r"windows-(pod|container)-fields/api/.*appArmorProfile$": (
        "podos-forbidden-pod-apparmor: accepted"
    ),
    r"windows-pod-fields/api/hostUsers$": "userns-hostusers-absent: accepted",
    r"windows-pod-fields/api/securityContext.seLinuxChangePolicy$": (
        "podos-forbidden-pod-selinux-change-policy-absent: accepted"
    ),
    r"windows-pod-fields/api/securityContext.supplementalGroupsPolicy$": (
        "podos-forbidden-pod-supplemental-groups-policy-absent: accepted"
    ),
    r"windows-container-fields/api/.*procMount$": ("fields-behind-gates: unspecified"),
}
HOST_USERS = {r"windows-pod-fields/api/hostUsers$": "fields-behind-gates: unspecified"}
"""The API server of 1.25 refuses the field, and drops it first where its gate is off."""
WHOLE = {r"windows-pod-fields/api/resources$": "podos-podlevelresources: accepted"}
_DENIED = r"network-policy/.*/denied$"
BY_PLUGIN = {
    "flannel": {_DENIED: "cni-netpol: connected"},
    "sdnbridge": {_DENIED: "cni-netpol: connected"},
    "ovn-kubernetes": {
        r"network-policy/windows-\d/.*/denied$": "cni-netpol-hybrid-overlay: connected"
    },
    "azure-cni": {_DENIED: "cni-netpol-no-engine: connected"},
    "aws-vpc-cni": {_DENIED: "cni-netpol-no-engine: connected"},
}
"""What passes although a NetworkPolicy denies it, by the plugin that enforces none."""
IMAGES = {
    17763: ("plat-kernel-image-match", "ltsc2022", "ltsc2025"),
    20348: ("plat-kernel-image-match-20348", "ltsc2019", "ltsc2025"),
    25398: ("plat-kernel-image-match-annual-others", "ltsc2019", "ltsc2025"),
    26100: ("plat-kernel-image-match-26100", "ltsc2019"),
}
"""The images that do not start on a node of each build, and the entry that says so."""


def pod_lines(profile: str) -> dict[str, str]:
    """Return patterns of ids and what decides them, by the profile's release and its nodes' builds."""
    shape = PROFILES[profile]
    minor = int(shape.kubernetes.split(".")[1])
    lines = dict(OLD_FIELDS if minor < 30 else {})
    lines |= HOST_USERS if minor == 25 else {}
    lines |= WHOLE if minor < 34 else {}
    overlay = PROFILES[profile].driver == "overlay"
    lines |= BY_PLUGIN.get(PROFILES[profile].plugin, {})
    for number, build in enumerate(_builds(profile), 1):
        pool = f"windows-{number}"
        entry, *others = IMAGES[build]
        names = "|".join(others)
        lines[rf"windows-image-build/{pool}/({names})$"] = f"{entry}: fails_to_start"
        lines[rf"pod-file-modes/{pool}/"] = "plat-secret-cleartext: deviates"
        lines[rf"pod-memory-volume/{pool}/"] = "vol-linux-only-features: deviates"
        lines[rf"pod-host-network/{pool}/address$"] = "hostnet-non-hostprocess: deviates"
        if overlay:
            hook = "flow-lifecycle-http-hook-remote: fails_to_start"
            lines[rf"pod-hook-other-node/{pool}/"] = hook
    return lines


def _builds(profile: str) -> Iterator[int]:
    shape = PROFILES[profile]
    for text in shape.builds or (shape.build,):
        if text:
            yield int(text.split(".")[0])
