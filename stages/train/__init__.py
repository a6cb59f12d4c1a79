"""Does training on two devices give the same network?"""
