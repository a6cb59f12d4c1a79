"""torchvision, importable with any build of torch; import it from here.

PyPI's torchvision wheel is compiled for a CUDA build of torch. With a CPU-only torch, its compiled
operators do not load, and the import fails at the shape rules for two of them (`operator
torchvision::nms does not exist`). Declaring those two first is enough: the data sets, transforms
and models used here call neither.
"""

import torch

_DECLARATIONS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
)

try:
    import torchvision
except RuntimeError as error:
    if "torchvision::" not in str(error):
        raise
    # kept in a variable: the declarations last as long as this object
    _library = torch.library.Library("torchvision", "DEF")
    for _declaration in _DECLARATIONS:
        _library.define(_declaration)
    import torchvision

__all__ = ["torchvision"]
