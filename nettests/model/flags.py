"""Flags of Kubernetes components, as their logs print them and as containers receive them. Pure.

Used by discovery (``cluster.kubeproxy``) and by the rules of configuration.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

Settings = tuple[str, Mapping[str, Any]]
"""A component's settings by its flags' names, behind where they were read."""


def first(settings: Iterable[Settings], flag: str) -> tuple[str, str] | None:
    """Return where a flag is set first, and its value."""
    of_flag = ((where, values.get(flag)) for where, values in settings)
    return next(((where, str(value)) for where, value in of_flag if value is not None), None)


def flags_in_log(log: str) -> dict[str, str]:
    """Return the flags that a component logged at its start."""
    # sample: I1121 01:22:03.787132       1 flags.go:64] FLAG: --enable-dsr="false"
    return dict(re.findall(r'FLAG: --([\w-]+)="([^"\n]*)"', log))


def flags_in_arguments(arguments: Sequence[str]) -> dict[str, str]:
    """Return the flags in a container's command and arguments, including scripts."""
    words = " ".join(arguments).split()
    flags: dict[str, str] = {}
    for word, following in pairwise([*words, "--"]):
        # sample: "--proxy-mode=kernelspace", "--enable-dsr" or "--source-vip" before "10.244.2.2"
        match = re.fullmatch(r"--([\w-]+)(?:=(.*))?", word.strip("'\",;"))
        if match is not None:
            bare = "true" if following.startswith("-") else following
            flags[match[1]] = match[2] if match[2] is not None else bare
    # A script's own variables ($env:SOURCE_VIP) are no values.
    return {key: value for key, value in flags.items() if not value.startswith(("$", "%"))}
