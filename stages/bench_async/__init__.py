"""Does a call return before its result is ready, and how wrong is a clock that ignores it?"""
