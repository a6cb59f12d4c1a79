"""The params that `fetch` reads from params.yaml."""

from lab.core.params import Section
from lab.data.sources import DataParams


class Params(Section):
    data: DataParams
