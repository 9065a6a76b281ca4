"""Compiled kernels of one process, loaded from disk by another that compiled in another order."""

import os
import subprocess
import sys

ASK = """
import numpy as np
from retro.games import keyed
from retro.games.quarto import QuartoBoard
from retro.games.quarto_keyed import quarto_rules
state = quarto_rules(QuartoBoard(4)), np.uint64(0), np.uint64(0x13_0000)
for question in {questions}:
    answer = getattr(keyed, question)(*state)
    print(question, [int(word) for word in answer] if isinstance(answer, tuple) else int(answer))
"""


def ask(questions, folder):
    """The answers of a new process that keeps its kernels in a folder."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder)}
    command = [sys.executable, "-c", ASK.format(questions=questions)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_the_order_of_compilation_does_not_matter(tmp_path) -> None:
    """Numba names machine code by function and number; the numbers begin anew in every process."""
    assert ask(["canonical_of"], tmp_path) == ["canonical_of [0, 1048576]"]
    both = ["outcome_of 2", "canonical_of [0, 1048576]"]
    assert ask(["outcome_of", "canonical_of"], tmp_path) == both
