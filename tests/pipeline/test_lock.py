"""What uv installs is what pip installs with the constraints, from PyPI."""

import tomllib

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.helpers import ROOT

LOCKED = tomllib.loads((ROOT / "uv.lock").read_text())["package"]
PINS = [Requirement(line) for line in (ROOT / "constraints.txt").read_text().splitlines()[1:]]
ALL = "python_version > '3'"  # the marker of what is locked for every Python


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
def test_the_lock_has_the_versions_of_the_constraints(python):
    here = {"python_version": python, "python_full_version": f"{python}.0"}
    locked = {
        package["name"]: package["version"]
        for package in LOCKED
        if any(Marker(each).evaluate(here) for each in package.get("resolution-markers", [ALL]))
    }
    pins = [pin for pin in PINS if pin.marker is None or pin.marker.evaluate(here)]
    assert len(pins) > 100
    other = [
        f"-P {pin.name}{pin.specifier}"
        for pin in pins
        if locked.get(canonicalize_name(pin.name)) not in pin.specifier
    ]
    assert not other, f"`uv lock {' '.join(other)}`"


def test_all_files_come_from_pypi_with_their_hashes():
    for package in LOCKED:
        if package["name"] == "d2l-lab":
            continue
        assert package["source"] == {"registry": "https://pypi.org/simple"}
        for file in [*package.get("wheels", []), *filter(None, [package.get("sdist")])]:
            assert file["url"].startswith("https://files.pythonhosted.org/packages/")
            assert file["hash"].startswith("sha256:")
