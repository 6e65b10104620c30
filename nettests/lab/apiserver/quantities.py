"""Amounts of resources as the API spells them: ``500m``, ``1Gi``, ``2``. Pure.

After ``k8s.io/apimachinery/pkg/api/resource``, for the units that pods and quotas use.
"""

import re
from fractions import Fraction

_UNITS = {
    "m": Fraction(1, 1000),
    "": Fraction(1),
    **{unit: Fraction(1000 ** (index + 1)) for index, unit in enumerate("kMGTPE")},
    **{f"{unit}i": Fraction(1024 ** (index + 1)) for index, unit in enumerate("KMGTPE")},
}
# samples: 2, 0.5, 10m, 512Mi
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)(m|[kMGTPE]|[KMGTPE]i|)")


def read(text: object) -> Fraction:
    """Return an amount; text that is none counts as 0, because values are stored unchecked."""
    match = _QUANTITY.fullmatch(str(text))
    return Fraction(match[1]) * _UNITS[match[2]] if match else Fraction(0)


def spelled(amount: Fraction, resource: str) -> str:
    """Return an amount of a resource as quotas show it: memory in binary units, the rest in thousandths."""
    if amount.denominator != 1:
        return f"{int(amount * 1000)}m"
    whole = int(amount)
    if resource.endswith("memory"):
        for unit in ("Gi", "Mi", "Ki"):
            if whole and whole % int(_UNITS[unit]) == 0:
                return f"{whole // int(_UNITS[unit])}{unit}"
    return str(whole)
