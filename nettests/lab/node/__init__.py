"""The node agent: what a kubelet, its runtime and its image store do on one emulated node.

``agent`` follows the API for pods bound to the node and gives each to a ``pod.PodWorker``, which runs
``container.Container`` tasks; ``status`` turns what they say into API status; ``kubelet`` answers exec,
logs and port-forward; ``server`` listens on port 10250. No host program is ever executed: containers
run programs of ``nettests.lab.programs`` or the built-in ones of ``system``.
"""
