"""A game at the terminal: what is typed, and what is shown.

Everything that is typed is a move or one of the words of `WORDS`; what is neither gets one
line and another try. The record of the game (`retro.play.record`) is all there is to
remember: `undo`, `load` and `new` put another record in its place.

    human to move      draw, ask, obey
    computer to move   think under a sign of life; Ctrl-C: the best move so far
    the end            say who won and why; on a terminal, ask what now

Who moves is told by `seats`.
"""

from __future__ import annotations

import argparse
import contextlib
import shlex
import time
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from retro.errors import BadTextError, IllegalPositionError, TablebaseError, TimeLimitError
from retro.games.values import VALUE_NAMES
from retro.play.levels import LEVELS, fits
from retro.play.players import read_spec
from retro.play.record import OTHER, RULES, Cost, GameRecord
from retro.play.referee import Foul, ask_move
from tablebase.cli.colour import find_style
from tablebase.cli.console import (
    Quit,
    SignOfLife,
    is_terminal,
    picture,
    print_folded,
    read_line,
)
from tablebase.cli.guard import shorten
from tablebase.cli.options import seconds
from tablebase.cli.replay import replay
from tablebase.cli.saves import load_record, save_record
from tablebase.cli.seats import SIDES, Seats, recorded_seats
from tablebase.players import Players
from tablebase.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from retro.games.game import Board, Position
    from retro.play.player import Player
    from retro.play.players import Spec
    from tablebase.players import Means

WORDS = {
    "help": "these words, and how a move is typed",
    "new": "[FIRST SECOND]: another game, also with other players: new human hard",
    "undo": "take back your last move and the answer to it; between humans one move",
    "redo": "make moves again that were taken back",
    "replay": "[SECONDS]: from the start, with a pause, or with Enter from move to move",
    "save": "FILE: keep the game, as JSON if it ends in .json",
    "load": "FILE: go on with a game that was kept",
    "hint": "a best move",
    "values": "on|off: what every move is worth",
    "level": f"NAME: another opponent, {', '.join(LEVELS)}",
    "swap": "change sides",
    "resign": "give up",
    "quit": "leave",
}
HELP = f"wanted a move, or one of: {', '.join(WORDS)}"
OVER_HELP = "type new, undo, replay, save FILE, load FILE, swap or quit"
HURRY, GUESS = "uct:500", "uct:20000"  # for who is interrupted before it found anything; a hint
KNOWING_SECONDS = 3.0  # for a hint, or for the values of all moves
MOST_UNKNOWN = 20  # moves without a known value that are named; of more their number


class Session:
    """Two seats, a record, and what the human wants to see."""

    def __init__(
        self, record: GameRecord, seats: tuple[Spec, Spec], means: Means, seed: int = 0
    ) -> None:
        self._record = record
        self._seats = Seats(seats, means, seed)
        self._means, self._seed = means, seed
        self._kept = self._record.moves  # what a file has
        self._shows_values = False
        self._shown: GameRecord | None = None
        self._style = find_style()
        self._stack = contextlib.ExitStack()
        self._knowing: Players | None = None

    @property
    def board(self) -> Board:
        return self._record.board

    def run(self) -> None:
        """Play until somebody leaves, or the game is over and nobody is there to ask."""
        with self._stack, self._seats:
            self._sit_down()
            legend = self.board.game.legend(self.board)
            if legend:
                print(legend)
            try:
                while self._turn():
                    pass
            except Quit:
                return

    def _sit_down(self, specs: tuple[Spec, Spec] | None = None) -> None:
        """Seat players, those who sat there or others; they begin where the record is."""
        self._seats.sit_down(self.board, specs)
        self._record = self._record.seated(*self._seats.names)

    def _turn(self) -> bool:
        """One move, or one word; whether there is more to come."""
        if self._record.is_over:
            return self._end()
        position = self._record.position
        player = self._seats.player(position.side_to_move)
        if player is not None:
            self._computer(player, position)
            return True
        if self._shown is not self._record:  # not after a word that changed nothing
            self._shown = self._record
            self._draw()
            self._show_values()
        self._obey(f"{position.mover_name}> ")
        return True

    # The computer

    def _computer(self, player: Player, position: Position) -> None:
        if not self._seats.humans:
            self._draw()
        begin = time.monotonic()
        player.found = None
        with SignOfLife(f"{player.name} thinks", "play now") as sign:
            player.report = sign.report
            self._seats.watch(sign.report)
            try:
                move, cost = ask_move(player, position)
            except KeyboardInterrupt:
                move = self._best_so_far(player, position)
                remark = f"interrupted; {player.remark}".rstrip("; ")
                cost = Cost(time.monotonic() - begin, player.nodes, remark)
            except Foul as foul:
                side = position.side_to_move
                self._record = self._record.end(OTHER[side], foul.reason, str(foul))
                return
        self._make(move, cost)

    def _best_so_far(self, player: Player, position: Position) -> int:
        """The move of a player who was interrupted; a quick one if it has found none yet."""
        if player.found is not None:
            return player.found
        if not fits(self.board):
            return position._in_order()[0]
        with Players(self.board, self._means) as players:
            return players.make(HURRY, Random(self._seed)).choose(position)

    # The human

    def _obey(self, prompt: str) -> None:
        """Read a line and do what it says; Ctrl-C asks before a game is dropped."""
        self._asked_at = time.monotonic()
        try:
            line = read_line(prompt)
        except KeyboardInterrupt:
            self._interrupted()
            return
        word, _, rest = line.partition(" ")
        try:
            if word in WORDS:
                words: dict[str, Callable[[str], None]] = {w: getattr(self, f"_{w}") for w in WORDS}
                words[word](rest.strip())
            elif line:
                self._move(line)
        except TablebaseError as error:
            print(shorten(str(error)), flush=True)
        except KeyboardInterrupt:
            print()

    def _interrupted(self) -> None:
        if self._record.moves == self._kept or not is_terminal():
            raise KeyboardInterrupt
        print()
        try:
            answer = read_line("the game is not saved; leave it? [y/N] ")
        except (Quit, KeyboardInterrupt):
            answer = "y"
        if answer.lower().startswith("y"):
            raise KeyboardInterrupt

    def _move(self, text: str) -> None:
        if self._record.is_over:
            raise BadTextError(f"found {text!r}; the game is over: {OVER_HELP}")
        position = self._record.position
        try:
            move = position._number_of(text)
        except BadTextError:
            raise BadTextError(f"found {text!r}, {HELP}") from None
        position._play(move)  # complains about what is against the rules
        self._make(move, Cost(time.monotonic() - self._asked_at))

    def _make(self, move: int, cost: Cost) -> None:
        position = self._record.position
        seat = self._seats.name(position.side_to_move)
        print(f"{position.mover_name} ({seat}) plays {position._text_of(move)}", flush=True)
        self._seats.tell(position, move)
        self._record = self._record.play(move, cost).seated(*self._seats.names)

    # Words

    def _help(self, _: str) -> None:
        how = self.board.game.move_help
        print(f"a move is {how}" if how else "type a move")
        for word, meaning in WORDS.items():
            print(f"  {word:<8}{meaning}")
        legend = self.board.game.legend(self.board)
        if legend:
            print(legend)
        for spec in self._seats.specs:
            if spec.kind in LEVELS:
                print(LEVELS[spec.kind].about(self.board))

    def _new(self, text: str) -> None:
        specs = _two_specs(text) if text else None
        record, self._record = self._record, GameRecord.begin(self._record.root)
        try:
            self._sit_down(specs)
        except TablebaseError:
            self._record = record
            raise
        self._kept = ()

    def _undo(self, _: str) -> None:
        self._jump(self._record.undo(self._plies_back()))

    def _plies_back(self) -> int:
        """Back to the last turn of a human; one ply, if there is none or both are."""
        record = self._record
        if record.verdict is not None and record.verdict.reason == "resignation":
            return 0  # the word that ended it, no move
        if self._seats.humans != 1:
            return 1
        for plies in range(1, len(record.entries) + 1):
            if self._seats.is_human(record.at(len(record.entries) - plies).side_to_move):
                return plies
        raise IllegalPositionError("there is no move to take back")

    def _redo(self, _: str) -> None:
        record = self._record.redo(1)
        while (
            record.undone
            and self._seats.humans
            and not self._seats.is_human(record.position.side_to_move)
        ):
            record = record.redo(1)
        self._jump(record)

    def _jump(self, record: GameRecord) -> None:
        self._record = record
        self._seats.start_again(self.board)

    def _replay(self, text: str) -> None:
        replay(self._record, _seconds(text) if text else None)
        self._shown = None

    def _save(self, name: str) -> None:
        save_record(self._record, name)
        self._kept = self._record.moves
        print(f"saved in {name}")

    def _load(self, name: str) -> None:
        self._record = load_record(name, self.board)
        self._kept = self._record.moves
        self._sit_down(recorded_seats(self._record))

    def _hint(self, _: str) -> None:
        position = self._unfinished()
        try:
            with self._watch("hint") as players:
                advice = players.adviser.advise(position)
        except TimeLimitError:
            self._guess(position)
            return
        value = f"{VALUE_NAMES[advice.value]} for you{_in_plies(advice.plies)}, by {advice.source}"
        print(f"hint: {position._text_of(advice.move)} ({value})")

    def _guess(self, position: Position) -> None:
        if not fits(self.board):
            print("hint: no proof within the time, and no guess")
            return
        with Players(self.board, self._means) as players:
            player = players.make(GUESS, Random(self._seed))
            move = position._text_of(player.choose(position))
        print_folded(f"hint: {move} (a guess: {player.remark})")

    def _level(self, name: str) -> None:
        if not name:
            raise BadTextError(f"wanted a level: {', '.join(LEVELS)}")
        spec = read_spec(name)
        self._sit_down(self._seats.with_computer(spec))
        about = LEVELS[spec.kind].about(self.board) if spec.kind in LEVELS else f"{spec} plays"
        print(about)

    def _swap(self, _: str) -> None:
        first, second = self._seats.specs
        self._sit_down((second, first))

    def _resign(self, _: str) -> None:
        side = self._unfinished().side_to_move
        self._record = self._record.end(OTHER[side], "resignation")

    def _quit(self, _: str) -> None:
        raise Quit

    def _values(self, text: str) -> None:
        if text not in ("on", "off"):
            raise BadTextError(f"found values {text!r:.60}, wanted on or off")
        self._shows_values = text == "on"
        self._shown = None

    # What is shown

    def _draw(self) -> None:
        record = self._record
        before = record.at(len(record.entries) - 1) if record.entries else None
        print(picture(record.position, before, self._style), flush=True)

    def _show_values(self) -> None:
        if not self._shows_values:
            return
        try:
            with self._watch("values") as players:
                known, unknown = players.adviser.rate(self._record.position)
        except KeyboardInterrupt:
            print("values: interrupted")
            return
        words = [f"{m.move} {VALUE_NAMES[m.value]}{_in_plies(m.plies)}" for m in known]
        if unknown:
            few = len(unknown) <= MOST_UNKNOWN
            left = " ".join(unknown) if few else counted(len(unknown), "move", "moves")
            words.append(f"not known in time: {left}")
        print_folded(f"values: {', '.join(words)}")

    @contextlib.contextmanager
    def _watch(self, what: str) -> Iterator[Players]:
        """Whoever knows values, under a sign of life; kept from one question to the next."""
        if self._knowing is None:
            limit = self._means.time_limit or KNOWING_SECONDS
            means = replace(self._means, time_limit=limit)
            self._knowing = self._stack.enter_context(Players(self.board, means))
        with SignOfLife(what, "no more of it") as sign:
            self._knowing.report = sign.report
            yield self._knowing

    def _unfinished(self) -> Position:
        if self._record.is_over:
            raise BadTextError(f"the game is over: {OVER_HELP}")
        return self._record.position

    def _end(self) -> bool:
        """Say how it ended; whether there is more to come."""
        self._draw()
        result = self._record.result
        assert result is not None, "it is over"
        if result.winner:
            name = self.board.players[SIDES.index(result.winner)]
            who = f"{name} ({self._seats.name(result.winner)}) wins"
        else:
            who = "nobody wins"
        print(f"the game is over: {result.words or result.reason}")
        print(who if result.reason in RULES else f"{who} by {result.reason}", flush=True)
        if not is_terminal():
            return False
        print(f"another game? {OVER_HELP}")
        while self._record.is_over:
            self._obey("over> ")
        return True


def _two_specs(text: str) -> tuple[Spec, Spec]:
    """The players of a new game, as they were typed."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise BadTextError(f"found {text!r:.60}: {error}") from None
    if len(words) != len(SIDES):
        raise BadTextError(f"found {text!r:.60}, wanted two players, such as human hard")
    return read_spec(words[0]), read_spec(words[1])


def _in_plies(plies: int | None) -> str:
    return f", over in {counted(plies, 'ply', 'plies')}" if plies else ""


def _seconds(text: str) -> float:
    try:
        return seconds(text)
    except argparse.ArgumentTypeError as error:
        raise BadTextError(str(error)) from None
