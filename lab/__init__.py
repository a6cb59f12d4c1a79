"""The library of the lab: what several stages share, in packages. The folder is the layer.

Imports point one way, which import-linter checks (pyproject.toml):

    tools -> report -> claims -> training -> parallel -> nets, optim, data, timing
        -> machine -> results -> core

What only one stage uses lives with that stage, in stages/<name>/.
"""
