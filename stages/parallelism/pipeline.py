"""A pipeline (GPipe, Huang et al. 2019): each device has some of the layers."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from lab.parallel.replicas import grad_of
from stages.parallelism.byte_counter import ByteCounter
from stages.parallelism.lenet_layers import LAYERS, layer_params, own
from stages.parallelism.pipeline_schedule import Slot, idle_share, schedule
from stages.parallelism.step import Devices, Step

Passed = dict[tuple[int, int], Tensor]  # by device and micro-batch


def pipeline(
    net: nn.Module, X: Tensor, y: Tensor, devices: Devices, num_micro_batches: int = 1
) -> Step:
    """Take the gradient layer by layer over the devices, one micro-batch behind the other.

    Activations go forward from device to device and their gradients back. `idle` is that of devices
    that take equally long; `flop_of_parts` says how long LeNet's parts take.

    Raises:
        ValueError: more devices than layers.
    """
    if len(devices) > len(LAYERS):
        raise ValueError(
            f"expected at most {len(LAYERS)} devices, a layer each, got {len(devices)}"
        )
    counter, parts, last = ByteCounter(devices), cut(len(devices)), len(devices) - 1
    layers = layer_params(net)
    params = [
        [own(p, device) for layer in part for p in layers[layer]]
        for part, device in zip(parts, devices, strict=True)
    ]
    slots = schedule([1.0] * len(devices), num_micro_batches)
    pieces = X.tensor_split(num_micro_batches)
    labels = y.to(devices[last]).tensor_split(num_micro_batches)
    inputs: Passed = {(0, i): piece.to(devices[0]) for i, piece in enumerate(pieces)}
    outputs: Passed = {}
    for device, i, *_ in slots:
        with counter.keeping(device, params[device]):
            h = _through(parts[device], inputs[device, i], params[device])
            if device == last:
                h = F.cross_entropy(h, labels[i], reduction="sum")
            else:
                sent = counter.send(h, device, device + 1, "forward")
                inputs[device + 1, i] = sent.requires_grad_()
            outputs[device, i] = h
    _backward(slots, inputs, outputs, counter)
    return Step(
        sum(outputs[last, i].item() for i in range(num_micro_batches)),
        [grad_of(p) for part in params for p in part],
        counter.moved,
        counter.memory(params),
        idle_share(slots),
    )


def _through(part: list[int], X: Tensor, params: list[Tensor]) -> Tensor:
    """The output of a device's layers."""
    for layer, W, b in zip(part, params[::2], params[1::2], strict=True):
        X = LAYERS[layer](X, W, b)
    return X


def _backward(slots: list[Slot], inputs: Passed, outputs: Passed, counter: ByteCounter) -> None:
    """Take the gradients slot by slot, the last first, each from the device behind."""
    for device, i, *_ in reversed(slots):
        grad = None
        if (device + 1, i) in inputs:
            grad = counter.send(grad_of(inputs[device + 1, i]), device + 1, device, "backward")
        torch.autograd.backward(outputs[device, i], grad)


def cut(num_devices: int) -> list[list[int]]:
    """The layers of each device, as equal in number as can be."""
    return [part.tolist() for part in torch.arange(len(LAYERS)).tensor_split(num_devices)]


def flop_of_parts(net: nn.Module, num_devices: int) -> list[int]:
    """Each device's FLOP for the forward pass of an image, counted and not computed."""
    X, counted = torch.empty(1, 1, 28, 28, device="meta"), []
    layers = [(W.to("meta"), b.to("meta")) for W, b in layer_params(net)]
    for part in cut(num_devices):
        with FlopCounterMode(display=False) as flop:
            for layer in part:
                X = LAYERS[layer](X.to(layers[layer][0].dtype), *layers[layer])
        counted.append(flop.get_total_flops())
    return counted
