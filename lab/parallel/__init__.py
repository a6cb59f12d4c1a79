"""Several devices: threads, replicas, processes, and all-reduces with what they should cost."""
