"""All claims of the notes, in the book's order."""

from lab import claims_optimization, claims_performance, claims_scaling, claims_training

LEDGER = (*claims_optimization.CLAIMS, *claims_performance.CLAIMS, *claims_training.CLAIMS, *claims_scaling.CLAIMS)
