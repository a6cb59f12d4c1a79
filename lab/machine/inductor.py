"""torch's compiler, imported and with the processor's instructions probed, before processes fork.

Importing this module takes two seconds, which each process that compiles would otherwise take.
"""

import importlib
from contextlib import suppress

import torch

from lab.machine.devices import missing_for_compile

# torch 2.11's CUDA build would count GPUs, which forked processes then cannot use
if torch.version.cuda is None and not missing_for_compile():
    importlib.import_module("torch._inductor.compile_fx")
    with suppress(Exception):  # of a broken compiler, which is reported where it should compile
        importlib.import_module("torch._inductor.cpu_vec_isa").pick_vec_isa()
