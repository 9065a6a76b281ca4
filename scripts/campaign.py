"""Attack the project, and say how it went: tries, failures, the smallest reproduction of each.

    python scripts/campaign.py hostile --minutes 5    tables of a stranger, digests recomputed
    python scripts/campaign.py flip                   every bit of three small tables
    python scripts/campaign.py fuzz --tries 100000    command lines and Python calls
    python scripts/campaign.py parsers --tries 1000   a thousand mutated texts each
    python scripts/campaign.py kill --tries 50        builds killed at any moment, gone on with
    python scripts/campaign.py power                  power cuts at every file operation
    python scripts/campaign.py load --minutes 1       a table is replaced while it is asked
    python scripts/campaign.py threads --tries 700    threads share a solver, of every game

The exit code is 1 if anything failed; what failed is in `--out`, by default `campaign-failures`.
The same seed makes the same cases. `docs/trust.md` has the figures of a long run.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from campaigns.common import Campaign

KINDS = ("kill", "flip", "fuzz", "parsers", "hostile", "power", "load", "threads")


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=math.inf, metavar="M")
    parser.add_argument("--tries", type=int, metavar="N")
    parser.add_argument("--out", type=Path, default=Path("campaign-failures"), metavar="DIR")
    options = parser.parse_args(words)
    begin = time.monotonic()
    campaign = Campaign(options.kind, options.seed)
    cases = import_module(f"campaigns.{options.kind}").cases
    campaign.run(cases(campaign), 60 * options.minutes, options.tries, options.out)
    print(campaign.report())
    print(f"  seed {options.seed}, {time.monotonic() - begin:.0f} s")
    return 1 if campaign.failures else 0


if __name__ == "__main__":
    sys.exit(main())
