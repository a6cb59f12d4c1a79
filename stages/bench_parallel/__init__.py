"""Do two devices run in parallel without being told to?"""
