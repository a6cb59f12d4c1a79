"""What did all the stages find?

Draws one self-contained page, a summary for a code host and the figures from the files that the
other stages wrote. It measures nothing, so it takes seconds, needs no torch, and gives the same
bytes for the same results. Each stage's part is made by its `section.py`. What is missing or
damaged is named on the page; with `--strict` that ends in exit code 3.

Read `reports/index.html`, in Chinese `reports/index.zh.html` (a browser, no network), or
`reports/README.md` (a code host).
"""
