from pathlib import Path

import pytest

from lab.core.errors import DataError
from lab.data.fetching.sources import (
    AIRFOIL,
    FASHION_FILES,
    MIRROR_VARIABLE,
    own_mirror,
    shown,
    sources,
)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("", ""),
        ("  ", ""),
        ("~", f"{Path.home()}"),
        ("~/x/", f"{Path.home()}/x"),
        ("~nobody-of-that-name/x", "~nobody-of-that-name/x"),
        (" ../shared\n", "../shared"),
        ("/with space/x", "/with space/x"),
        ("FILE:///with%20space/x", "/with space/x"),
        ("file://localhost/x", "/x"),
        ("HTTPS://Host/Path/", "https://Host/Path"),
        (" http://host:8000", "http://host:8000"),
    ],
)
def test_the_own_mirror_is_what_its_user_means(monkeypatch, written, meant):
    monkeypatch.setenv(MIRROR_VARIABLE, written)
    assert own_mirror() == meant
    own = [f"{meant}/airfoil/airfoil_self_noise.dat"] if meant else []
    other = ["https://mirror/airfoil_self_noise.dat"]
    assert sources(AIRFOIL, ["https://mirror/"]) == own + other


@pytest.mark.parametrize("written", ["ftp://host/x", "s3://bucket"])
def test_an_address_of_another_kind_is_refused(monkeypatch, written):
    monkeypatch.setenv(MIRROR_VARIABLE, written)
    with pytest.raises(DataError, match=f"got {written[:2]}.*://; set it to one, or unset it"):
        own_mirror()


def test_messages_show_no_password():
    assert shown("https://me:secret@host/path@2/x") == "https://***@host/path@2/x"
    assert shown("/home/me@host/x") == "/home/me@host/x"


def test_what_is_packed_has_the_sizes_of_its_arrays():
    """An IDX header has 4 bytes and 4 for each dimension; a label has one byte, an image 28²."""
    sizes = [file.unpacked_size for file in FASHION_FILES]
    assert sizes == [16 + 60_000 * 784, 8 + 60_000, 16 + 10_000 * 784, 8 + 10_000]
