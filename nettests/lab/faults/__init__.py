"""Faults of a running lab, by name, at the level of the mechanism that would really fail.

``kinds`` lists them with their options, ``registry`` puts them in force and takes them out again; the other
modules hold them by the part of the cluster that they break. Nothing here knows what a check will see.
"""
