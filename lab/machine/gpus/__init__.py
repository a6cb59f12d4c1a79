"""GPU-only features: the driver and CUDA graphs."""
