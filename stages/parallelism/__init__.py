"""What does each kind of parallelism send and store?"""
