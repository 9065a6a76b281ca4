"""`python -m tablebase` is the `tablebase` command."""

import sys

from tablebase.cli.main import main

sys.exit(main())
