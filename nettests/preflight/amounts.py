"""Amounts of resources as Kubernetes spells them (``500m``, ``1Gi``), read and written exactly. Pure."""

import re
from fractions import Fraction

_FACTORS = {
    "": Fraction(1),
    **{unit: Fraction(1, 1000**power) for power, unit in enumerate("mun", 1)},
    **{unit: Fraction(1000**power) for power, unit in enumerate("kMGTPE", 1)},
    **{f"{unit}i": Fraction(1024**power) for power, unit in enumerate("KMGTPE", 1)},
}


def quantity(text: str) -> Fraction:
    """Return a quantity as an exact number (``500m`` = 0.5, ``1Gi``); ``ValueError`` for what is none."""
    # sample: "100", "500m", "1.5Gi", "2e3"
    match = re.fullmatch(r"([+-]?[\d.]+(?:[eE][+-]?\d+)?)([A-Za-z]{0,2})", text.strip())
    if match is None or match[2] not in _FACTORS:
        raise ValueError(f"not a quantity: {text!r}")
    return Fraction(match[1]) * _FACTORS[match[2]]


def spelled(amount: Fraction, resource: str) -> str:
    """Return an amount for people: memory and storage in Mi, everything else as a number."""
    if resource.endswith(("memory", "storage")):
        return f"{float(amount / _FACTORS['Mi']):g}Mi"
    return f"{float(amount):g}"
