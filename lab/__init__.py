"""The library of the lab: everything worth importing and testing.

Three layers, and imports point one way, `stages -> edge -> torch -> plain` (a test checks the arrows):

- *plain* needs no torch: `airfoil`, `curves`, `errors`, `idx`, `objectives`, `page`, `quadratics`, `rates`,
  `regression`, `rules`, `stats`, `synthetic`
- *torch* computes and times: `ensemble`, `models`, `nets`, `replicas`, `resnet`, `short_training`, `strategies`,
  `timing`, `training`
- *edge* is the only place that touches hardware, files or processes: `checkpoints`, `compare`, `data`, `devices`,
  `doctor`, `download`, `figures`, `hardware`, `launch`, `params`, `predict`, `profiles`, `records`,
  `report_landscapes`, `report_optimizers`, `report_schedules`, `report_train`, `runner`, `vision`
"""
