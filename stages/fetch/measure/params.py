"""What `fetch` reads of params.yaml."""

from lab.core.params import Section
from lab.data.sources import DataParams


class Params(Section):
    """What `fetch` reads of params.yaml."""

    data: DataParams
