"""The data sets: whether they are here, whole, and the originals."""

from collections.abc import Iterator
from pathlib import Path

import requests

from lab.core.errors import DataError
from lab.core.params import Section, load
from lab.data import datasets, sources
from lab.tools.doctor.finding import Finding, fail, note, ok, warn

FETCH = "invoke repro --stage fetch"


class _DataParams(Section):
    data: sources.DataParams


def data_sets() -> Iterator[Finding]:
    """The data are here and original, or a source of them answers."""
    if not (datasets.DATA / datasets.SOURCE_FILE).exists():
        if any((datasets.DATA / folder).exists() for folder in ("FashionMNIST", "airfoil")):
            yield fail(
                f"{datasets.DATA / datasets.SOURCE_FILE} is missing beside the data",
                FETCH,
                exit_code=DataError.exit_code,
            )
        else:
            found = _first_source()
            yield note(f"no data yet, {found.text}", FETCH) if found.level == "ok" else found
        return
    source = datasets.read_source()
    datasets.read_fashion_mnist("train")
    datasets.read_fashion_mnist("t10k")
    datasets.read_airfoil()
    if "synthetic" in source.values():
        yield warn(
            f"look-alikes instead of data ({source}); {_first_source().text}",
            "invoke remeasure --stage fetch",
        )
    else:
        yield ok("Fashion-MNIST and airfoil table, unchanged since they were fetched")


def _first_source() -> Finding:
    """The first source that has the first file."""
    file = sources.FASHION_FILES[0]
    for source in sources.sources(file, load(_DataParams).data.mirrors.fashion_mnist):
        try:
            if sources.is_address(source):
                requests.head(source, timeout=5, allow_redirects=True).raise_for_status()
            elif not Path(source).is_file():
                continue
        except requests.RequestException:
            continue
        return ok(f"found at {source.rsplit('/', 1)[0]}")
    return warn(
        f"no source of {file.name} answers: the lab goes on with labelled synthetic data, or with a"
        " folder that has fashion-mnist/ and airfoil/",
        f"export {sources.MIRROR_VARIABLE}=FOLDER",
    )


CHECKS = (data_sets,)
