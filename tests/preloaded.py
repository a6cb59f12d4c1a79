"""Slow imports of the fork server of tests/forked.py, without modules of the lab.

A test may run other code of the lab than this checkout's.
"""

import sys

import matplotlib as matplotlib
import pydantic as pydantic
from dvc import repo as repo
from dvc.cli import parser as parser

from lab.machine.torchvision_import import torchvision as torchvision

for name in [name for name in sys.modules if name.partition(".")[0] in ("lab", "stages")]:
    del sys.modules[name]
