"""Simulate GPUs in every Python process with this folder on PYTHONPATH and SIMULATED_GPUS set."""

import os

if os.environ.get("SIMULATED_GPUS"):
    import simulated_cuda

    simulated_cuda.install()
