"""Which machine is this? Stable facts about it, which every measurement depends on.

It runs on each `dvc repro`, and what depends on it re-runs only when a fact changed: another
processor, number of cores, GPU or torch means other times. It is also the first stage to run, so it
checks the whole of params.yaml before any work starts.

Read `reports/hardware.json`: three groups, `accelerator`, `cpu` and `software`.
"""
