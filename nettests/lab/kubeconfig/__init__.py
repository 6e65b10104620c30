"""Credentials of a lab: kubeconfigs, the cluster profile, certificates, tokens that expire.

``documents`` makes the files and certificates; ``exec_plugin`` is the program that one of the files names.
"""
