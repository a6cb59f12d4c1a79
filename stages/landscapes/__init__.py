"""Is the lowest training loss what we want?"""
