"""Credentials of a lab: kubeconfigs, the cluster profile, certificates, tokens that expire.

``documents`` are the files and what they trust, ``exec_plugin`` the program that one of them names.
"""
