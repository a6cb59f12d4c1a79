"""Does a call return before its result is there, and how wrong is a clock that does not know?"""
