"""A rank that leaves a file with its name under the folder it is given, and then waits."""

import os
import sys
import time
from pathlib import Path

if __name__ == "__main__":
    (Path(sys.argv[1]) / os.environ["RANK"]).touch()
    time.sleep(600)
