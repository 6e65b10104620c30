"""HTTP as the lab's programs, kubelets and proxies speak it on their own sockets."""
