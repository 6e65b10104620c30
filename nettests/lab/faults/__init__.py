"""Faults of a running lab, by name, each at the mechanism that would really fail.

``kinds`` lists them with their options, ``registry`` injects and clears them; ``network``, ``names``, ``workloads`` and
``control_plane`` declare them by the part of the cluster that they break. Nothing here knows what a check will observe.
"""
