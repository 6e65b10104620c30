"""What installers leave in a cluster before any user comes, as values of a profile. Pure.

``system_objects`` has what kubeadm and sig-windows-tools make, ``plugin_objects`` what network plugins bring,
``flannel`` the CNI configuration that Flannel writes on Windows nodes.
"""
