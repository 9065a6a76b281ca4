"""Sealing a table again after something was changed: a stranger can count, too."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

from campaigns.hostile import seal as reseal

__all__ = ["reseal"]
