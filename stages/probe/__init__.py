"""Which machine is this?"""
