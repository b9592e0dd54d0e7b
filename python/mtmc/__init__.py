"""MTMC, the Python side: loading tasks, tracing, and the processes of the judge."""
