"""A run inside the cluster that it tests: the objects of a Job, its state, its archive. Pure.

``cluster.job_objects`` applies the objects, ``cluster.job_pods`` follows them and reads logs; the command line is
``cli.job_commands``. A Job runs the ordinary ``nettests run`` with the permissions of its ServiceAccount.
"""
