"""What did all the stages find?

Draws an index, a page for each question in English and Chinese, errata, how-to, all claims with
the method, and a summary for a code host, from the files that the other stages wrote. It measures
nothing, so it takes seconds, needs no torch, and gives the same bytes for the same results. The
text of a question's page is in stages/<name>/page/. Each page names missing or damaged results, and
a page that could not be drawn sets the exit code.

`__main__.py` reads the evidence for all pages (`evidence.py`), draws the questions' pages
(`questions.py`) and then the others (`about.py`, with `front_page.py` and `*_page.py`). A page is a
Markdown text, filled with values and with the results of its calls (`calls.py`), in a template
(`site.py`, `templates/`).

Read `reports/index.html`, in Chinese `reports/index.zh.html` (a browser, no network), or
`reports/README.md` (a code host).
"""
