"""What did all the stages find?

Draws an index, a page for each question in English and Chinese, errata, how-to, all claims with
the method, and a summary for a code host, from the files that the other stages wrote. It measures
nothing, so it takes seconds, needs no torch, and gives the same bytes for the same results. The
text of a question's page stands in stages/<name>/page/. What is missing or damaged is named on its
page, and what could not be drawn ends in an exit code.

`__main__.py` reads what all pages draw on (`evidence.py`), draws the questions' pages
(`questions.py`) and then the others (`about.py`, with `front_page.py` and `*_page.py`). A page is a
text in Markdown, filled with values and with what it calls (`calls.py`), in a template (`site.py`,
`templates/`).

Read `reports/index.html`, in Chinese `reports/index.zh.html` (a browser, no network), or
`reports/README.md` (a code host).
"""
