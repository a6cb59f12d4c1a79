"""Names of metrics that every timed stage writes, for those who read them without torch."""

PRODUCT_SPEEDS = ("product_gflops_before", "product_gflops_after")
COPY_SPEEDS = ("copy_gbs_before", "copy_gbs_after")
