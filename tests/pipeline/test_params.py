"""params.yaml: every key has a comment, and DVC watches it."""

import re

from lab.core.params import read_yaml
from lab.tools.profiles import leaves
from tests.helpers import COMMITTED, ROOT
from tests.pipeline.test_architecture import PIPELINE


def test_every_key_has_a_comment():
    """Meaning and unit, on the key's line or, for a section, on the line before."""
    lines = (COMMITTED / "params.yaml").read_text().splitlines()
    keys = [i for i, line in enumerate(lines) if re.match(r" *[a-z]\w*:( |$)", line)]
    bare = [lines[i] for i in keys if "#" not in lines[i] and not lines[i - 1].startswith("#")]
    assert not bare, "\n".join(bare)


def test_dvc_watches_every_key():
    entries = [entry for stage in PIPELINE.values() for entry in stage.get("params", [])]
    watched = [entry for entry in entries if isinstance(entry, str)]
    roots = {entry.replace(".${item.run}", "") for entry in watched}
    missing = [
        key
        for key, _ in leaves(read_yaml(ROOT / "params.yaml"))
        if not any(key == root or key.startswith(f"{root}.") for root in roots)
    ]
    assert missing == ["train.timeout_s"], "for how long ranks wait decides no result"
