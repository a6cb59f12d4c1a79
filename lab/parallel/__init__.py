"""Several devices: threads, replicas, processes, and all-reduces with a model of their cost."""
