"""The arms of each net's race, and how many products are worth a step."""

from dataclasses import replace

import torch

from lab.core.shared_params import Compile
from lab.data.loaders import BOOK_WORKERS
from lab.nets.flops import training_flop
from lab.nets.models import MODELS
from lab.training.arm_process import TrainingArm
from stages.bench_training import names
from stages.bench_training.params import TrainingParams

PRODUCT_ROWS = {"cpu": 1024, "cuda": 8192}
PRODUCTS = 10  # of a turn


def arms_of(
    p: TrainingParams, device: str, cores: int, share: int, compiled: bool
) -> dict[str, dict[str, TrainingArm]]:
    """The arms by net and name: with all `cores` in one process, with `share` for each worker."""
    lenet = TrainingArm(
        "replicas", names.LENET, p.lenet_batch_size, p.lenet_steps, device, threads=cores
    )
    resnet = TrainingArm(
        "replicas", names.RESNET18, p.resnet_batch_size, p.resnet_steps, device, threads=cores
    )
    product = TrainingArm("product", "", PRODUCT_ROWS[device], PRODUCTS, device, threads=cores)
    worker = replace(lenet, kind="ddp", threads=share)
    workers = {names.ONE_WORKER: worker, names.TWO_WORKERS: replace(worker, num_devices=2)}
    if device == "cuda" and torch.cuda.device_count() < 2:
        del workers[names.TWO_WORKERS]
    notes = {
        names.FOUR_WORKERS: replace(lenet, kind="book", num_workers=BOOK_WORKERS),
        names.NO_WORKERS: replace(lenet, kind="book"),
    }
    return {
        names.LENET: {**notes, **_engine(lenet, compiled), **workers, names.PRODUCT: product},
        names.RESNET18: {
            names.NO_WORKERS: replace(resnet, kind="book"),
            **_engine(resnet, compiled),
            names.PRODUCT: product,
        },
    }


def _engine(arm: TrainingArm, compiled: bool) -> dict[str, TrainingArm]:
    on_gpu = arm.device == "cuda"
    graphs: Compile = "reduce-overhead" if on_gpu else "default"
    return {
        names.ENGINE: arm,
        **({names.COMPILED: replace(arm, compile_mode=graphs)} if compiled else {}),
        **({names.TF32: replace(arm, precision="tf32")} if on_gpu else {}),
        names.BF16: replace(arm, precision="bf16"),
    }


def products_per_step(net: str, batch_size: int, rows: int) -> float:
    """How many products of square matrices have the FLOP of a training step."""
    # of two images, since batch norm cannot train on one
    flop_per_image = training_flop(MODELS[net](torch.Generator()), (2, 1, 28, 28)) / 2
    return flop_per_image * batch_size / (2 * rows**3)
