"""Which sentences of the notes hold on this machine?

A verdict for each, from what the other stages measured.

Each entry of the ledger (`lab/claims/ledger.py`) names what it reads of the stages' metrics and
rows, how these make one number with an interval, and the range in which the claim holds. The
verdict is `confirmed` if the whole interval lies within, `refuted` if the whole of it lies outside,
`inconclusive` if it lies across an end, and `not testable here`, with the reason, if something is
missing, damaged, of synthetic data, or of another kind of device than the claim is about. No rule
is tuned to the result: the range comes from the claim's words.

Read `reports/claims/rows.csv`, one row per claim. It measures nothing and needs no torch. Book: 12
and 13.
"""
