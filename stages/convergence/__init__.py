"""How many more epochs does a larger batch need?"""
