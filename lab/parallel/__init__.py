"""Several devices: threads and streams, replicas, processes, collectives and what they should
cost.
"""
