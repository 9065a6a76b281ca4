"""Every named error, each with the exit code the commands end with.

A message says what was found, what was wanted and where. Each class also
inherits the builtin that a caller would expect (`ValueError` for bad input,
`KeyError` for a missing table, `OSError` for a file), so code that knows
nothing of this project still catches the right thing.

    code  class                  cause
       0                         success
       1  VerificationError      a table contradicts the rules or itself
       2                         wrong use of a command (argparse)
       3  BadTextError           text that is no position, board or option
       4  IllegalPositionError   floating stone, impossible counts, full column
       5  GameOverError          the game has already ended there
       6  MissingTableError      no such table; the message names the command that builds it
       7  WrongBoardError        a position of another board than the table's
       8  DamagedFileError       truncated, failed checksum, not a table at all
       9  FormatVersionError     a format this reader does not know
      10  DoesNotFitError        the build needs more memory or disk than there is
      11  IncompleteTableError   the table was never finished
      12  StorageError           the disk is full, the folder is not writable
      13  TimeLimitError         a search did not finish within its time limit
      14  NotCoveredError        a table of some plies, or from a root, does not reach there
      15  UnreachableError       a table or a cluster elsewhere does not answer
      16  NoDistancesError       the table knows who wins, but not in how many plies
     130                         interrupted (Ctrl-C)
     143                         terminated (SIGTERM), as cleanly
"""

EXIT_INTERRUPTED = 130


class TablebaseError(Exception):
    """Base of every error of this project."""

    exit_code = 1

    def __str__(self) -> str:
        # KeyError would show its message in quotes.
        return str(self.args[0]) if self.args else self.__class__.__name__


class VerificationError(TablebaseError):
    """A table contradicts the rules, its successors or its own counts."""

    exit_code = 1


class BadTextError(TablebaseError, ValueError):
    """Text that cannot be read as a board, a position or a move."""

    exit_code = 3


class IllegalPositionError(TablebaseError, ValueError):
    """Readable, but against the rules: floating stone, impossible counts, full column."""

    exit_code = 4


class GameOverError(TablebaseError, ValueError):
    """The game has already ended in this position."""

    exit_code = 5


class MissingTableError(TablebaseError, KeyError):
    """No such table; the message names the command that builds it."""

    exit_code = 6


class NotCoveredError(MissingTableError):
    """The table holds other plies, or starts from a position that cannot lead there."""

    exit_code = 14


class NoDistancesError(MissingTableError):
    """The table knows values only; the message names the option that keeps distances, too."""

    exit_code = 16


class WrongBoardError(TablebaseError, ValueError):
    """A position of another board than the one asked for."""

    exit_code = 7


class DamagedFileError(TablebaseError, OSError):
    """The file is truncated, fails a checksum or is no table at all."""

    exit_code = 8


class ChecksumError(DamagedFileError):
    """Stored data no longer has its stored digest."""


class LostGroupError(TablebaseError):
    """A group of a table being built is damaged or missing; it can be made again."""

    exit_code = 8

    def __init__(self, message: str, walk: str, ply: int, number: int) -> None:
        super().__init__(message, walk, ply, number)
        self.walk, self.ply, self.number = walk, ply, number


class FormatVersionError(TablebaseError, ValueError):
    """The file is of a format version that this program does not read."""

    exit_code = 9


class DoesNotFitError(TablebaseError):
    """The work needs more memory or disk than there is."""

    exit_code = 10


class IncompleteTableError(TablebaseError, OSError):
    """The table was never finished; the message names the command that resumes it."""

    exit_code = 11


class StorageError(TablebaseError, OSError):
    """The disk is full or the place cannot be written."""

    exit_code = 12


class TimeLimitError(TablebaseError, TimeoutError):
    """A search did not finish within its time limit; there is no answer, and no guess."""

    exit_code = 13


class UnreachableError(TablebaseError, ConnectionError):
    """Something on another machine, a table or a cluster, does not answer or was lost."""

    exit_code = 15
