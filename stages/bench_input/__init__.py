"""Is the data loader the bottleneck?"""
