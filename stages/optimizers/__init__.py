"""Which optimizer is better, and when does the ranking mean anything?"""
