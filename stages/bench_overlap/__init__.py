"""Can copying overlap with computing?"""
