"""`python -m tablebase` is the `tablebase` command."""

import sys

from tablebase.cli.entry import tablebase

sys.exit(tablebase())
