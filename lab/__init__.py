"""The library of the lab: everything worth importing and testing.

Three layers, and imports point one way, `stages -> edge -> torch -> plain` (a test checks the arrows):

- *plain* needs no torch: `errors`, `idx`, `stats`, `synthetic`
- *torch* computes and times: `nets`, `replicas`, `timing`, `training`
- *edge* is the only place that touches hardware, files or processes: `compare`, `data`, `devices`, `doctor`,
  `download`, `figures`, `hardware`, `params`, `profiles`, `records`, `runner`, `vision`
"""
