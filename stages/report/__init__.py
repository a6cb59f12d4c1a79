"""What did all the stages find?

Draws an index, a page for each question in English and Chinese, errata, how-to, all claims with
the method, and a summary for a code host, from the files that the other stages wrote. It measures
nothing, so it takes seconds, needs no torch, and gives the same bytes for the same results. The
text of a question's page stands in stages/<name>/page/; `questions.py` says how. What is missing
or damaged is named on its page, which with `--strict` ends in exit code 3.

Read `reports/index.html`, in Chinese `reports/index.zh.html` (a browser, no network), or
`reports/README.md` (a code host).
"""
