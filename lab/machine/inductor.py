"""torch's compiler with what it finds out about the processor, for processes to fork with.

Whoever imports this module waits for two seconds, which each process that compiles would wait for.
"""

import importlib

import torch

from lab.machine.devices import missing_for_compile

INDUCTOR = "torch._inductor.compile_fx"

# torch 2.11's CUDA build would count GPUs, which forked processes then cannot use
if torch.version.cuda is None and not missing_for_compile():
    importlib.import_module(INDUCTOR)
    importlib.import_module("torch._inductor.cpu_vec_isa").pick_vec_isa()
