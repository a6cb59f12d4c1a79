"""Where do the data come from?"""
