"""The node agent: what a kubelet, its runtime and its image store do on one emulated node.

``agent`` follows the API for pods bound to the node and gives each to a ``pod.PodWorker``, which runs
``container.Container`` tasks; ``status`` turns their states into API status. ``agent.NodeKubelet`` serves
exec, logs and port-forward; ``serving`` listens on port 10250. No host program is ever executed: containers
run programs of ``nettests.lab.programs`` or the built-in ones of ``system``.
"""
