"""Faults of a running lab, by name, each in the mechanism that would fail in a real cluster.

``kinds`` lists them with their options, ``registry`` injects and clears them; ``network``, ``names``, ``workloads`` and
``control_plane`` declare them by the part of the cluster that they break. What checks observe follows from them.
"""
