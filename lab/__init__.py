"""The library of the lab: what several stages share, in packages. The folder is the layer.

Imports point one way, which import-linter checks (pyproject.toml):

    tools -> report -> claims -> training -> parallel -> nets, optim, data, timing
        -> machine -> results -> core

What only one stage uses lives with that stage, in stages/<name>/.
"""

import os

MISLEADING = (
    # torch's first import would pin its threads, or use fewer than the machine's facts say
    *("OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"),
    *("OMP_THREAD_LIMIT", "OMP_MAX_ACTIVE_LEVELS", "OMP_DYNAMIC"),
    # git would work in another repository: a hook of it exports them
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"),
)
DROPPED = [name for name in MISLEADING if os.environ.pop(name, None) is not None]

# a standard stream that is closed (`>&-`): the next file, such as one of libffi's, would take its
# number, and child processes would have none
for _number in range(3):
    try:
        os.fstat(_number)
    except OSError:
        os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
