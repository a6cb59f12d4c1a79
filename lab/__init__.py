"""The library of the lab: everything worth importing and testing.

Three layers, and imports point one way, `stages -> edge -> torch -> plain` (a test checks the arrows):

- *plain* needs no torch: `airfoil`, `claims`, `claims_optimization`, `claims_performance`, `claims_scaling`,
  `claims_training`, `costs`, `curves`, `errors`, `idx`, `ledger`, `measurements`, `objectives`, `page`,
  `predictions`, `quadratics`, `rank`, `rates`, `regression`, `rules`, `stats`, `svg`, `symbolic`, `synthetic`, `words`
- *torch* computes and times: `collectives`, `convergence`, `counting`, `ensemble`, `lanes`, `matmul`, `models`,
  `nets`, `overlap`, `parallelism`, `replicas`, `resnet`, `short_training`, `strategies`, `timing`, `training`,
  `waterfall`
- *edge* is the only place that touches hardware, files or processes: `allocator`, `allreduce_times`, `bench`,
  `catalogue`, `checkpoints`, `compare`, `compiled`, `contest`, `data`, `devices`, `doctor`, `download`,
  `figures`, `hardware`, `inputs`, `launch`, `memory`, `params`, `predict`, `profiles`, `recording`, `records`,
  `report_bench`, `report_bench_async`, `report_bench_collectives`, `report_bench_compile`,
  `report_bench_hardware`, `report_bench_input`, `report_bench_overlap`, `report_bench_parallel`,
  `report_bench_training`, `report_claims`, `report_convergence`, `report_landscapes`, `report_optimizers`,
  `report_parallelism`, `report_references`, `report_replicas`, `report_scaling`, `report_schedules`,
  `report_train`, `runner`, `vision`
"""
