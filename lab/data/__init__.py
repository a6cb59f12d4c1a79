"""The two data sets: fetched against pinned hashes or drawn, read, and fed to a network."""
