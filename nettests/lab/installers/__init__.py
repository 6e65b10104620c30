"""The objects and files that installers create in a new cluster, computed from a profile. Pure.

``system_objects`` has the objects of kubeadm and sig-windows-tools, ``plugin_objects`` those of network plugins,
``flannel`` the CNI configuration that Flannel writes on Windows nodes.
"""
