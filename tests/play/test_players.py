"""Players of any game: minimax is alpha-beta, depth finds what it must, the referee is fair."""

import random
import time
from dataclasses import replace

import pytest

from retro.errors import BadTextError
from retro.games.catalogue import find_game, make_board
from retro.games.domineering.evaluate import mobility, safe_places
from retro.games.domineering.rules import OTHER
from retro.games.puissance_plus.evaluate import runs
from retro.play.evaluations import find_evaluation
from retro.play.lookahead import DECIDED, alpha_beta, minimax
from retro.play.players import make_player, read_spec
from retro.play.referee import referee

BOARDS = {
    "connect4": ("5x4", {}),
    "mnk": ("4x3", {"connect": "3"}),
    "puissance-plus": ("4x3", {"target": "5"}),
    "domineering": ("4x4", {}),
    "quarto": ("2x2", {"attributes": "3"}),
}

# From this ply on plain recursion is quick.
LATE = {"connect4": 14, "mnk": 6, "puissance-plus": 6, "domineering": 3, "quarto": 2}


def evaluations(name: str):
    """All that a game has; one that sees no difference where it has none."""
    return list(find_game(name).evaluations.values()) or [find_evaluation(name)]


def some_positions(name: str, number: int, seed: int = 5, most_plies: int = 8):
    """Unfinished positions of random games."""
    game = find_game(name)
    board = game.parse(*BOARDS[name])
    rng = random.Random(seed)
    found = []
    while len(found) < number:
        position = game.start(board)
        for _ in range(rng.randrange(most_plies)):
            if not position.is_over():
                position = position._play(rng.choice(position._numbers()))
        if not position.is_over():
            found.append(position)
    return found


@pytest.mark.parametrize("name", BOARDS)
@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_alpha_beta_is_minimax_with_fewer_nodes(name: str, depth: int) -> None:
    fewer = False
    for evaluate in evaluations(name):
        for position in some_positions(name, 8):
            slow, fast = (look(position, depth, evaluate) for look in (minimax, alpha_beta))
            assert (fast.move, fast.score) == (slow.move, slow.score)
            assert fast.nodes <= slow.nodes
            fewer = fewer or fast.nodes < slow.nodes
    assert fewer == (depth > 1)


@pytest.mark.parametrize("name", ["connect4", "mnk", "puissance-plus"])
def test_evaluations_change_sign_with_the_colours(name: str) -> None:
    for position in some_positions(name, 30):
        if position.ply % 2 == 0:
            swapped = type(position)(position.board, position.second, position.first)
            for evaluate in find_game(name).evaluations.values():
                assert evaluate(swapped) == -evaluate(position)


def test_evaluations_of_domineering_count_by_definition() -> None:
    """Mobility is moves; a safe place stays free whatever the opponent does."""
    for position in some_positions("domineering", 30):
        other = replace(position, turn=OTHER[position.turn])
        moves = [len(side._numbers()) for side in (position, other)]
        assert mobility(position) == moves[0] - moves[1] == -mobility(other)
        assert safe_places(other) == -safe_places(position)
    game = find_game("domineering")
    # Vertical's column is out of Horizontal's reach: two safe moves.
    column = game.read_position(game.parse("4x1", {}), "")
    assert (mobility(column), safe_places(column)) == (3, 3 + 2 * 2)


def test_runs_count_what_cells_are_worth() -> None:
    game = find_game("puissance-plus")
    board = game.parse("3x3", {"target": "5", "values": "121/232/121"})
    # The middle counts 3: four runs 3 2 lack one stone, two diagonals 1 3 1 lack two.
    assert runs(game.read_position(board, "b2")) == -(4 * (9 + 25) + 2 * 9)
    # A corner stops one diagonal and holds no other run.
    assert runs(game.read_position(board, "b2 a1")) == 4 * (9 + 25) + 9


@pytest.mark.parametrize("name", BOARDS)
def test_deep_enough_is_perfect(name: str) -> None:
    """With a horizon beyond the end the score is the value of plain recursion, and its speed."""

    def value(position) -> int:
        outcome = position.outcome()
        if outcome is not None:
            return outcome
        return max(-value(position._play(move)) for move in position._numbers())

    checked = 0
    for position in some_positions(name, 40, seed=8, most_plies=20):
        if position.ply >= LATE[name]:
            found = alpha_beta(position, 20, find_evaluation(name))
            assert found.score == 0 or abs(found.score) >= DECIDED - 20
            assert (found.score > 0) - (found.score < 0) == value(position)
            checked += 1
    assert checked >= 3


def test_a_win_at_once_beats_a_later_one() -> None:
    game = find_game("connect4")
    position = game.read_position(game.parse("7x6", {}), "1212127")
    for spec in ("greedy", "minimax:2", "alphabeta:4"):
        player = make_player(read_spec(spec), position.board, random.Random(1))
        for _ in range(5):
            assert player.choose(position.undo()) == 0
    # The other side must block, which takes two plies to see.
    for spec in ("minimax:2", "alphabeta:3"):
        player = make_player(read_spec(spec), position.board, random.Random(1))
        assert player.choose(position) in (0, 1)


@pytest.mark.parametrize("name", BOARDS)
def test_seeds_decide_games_and_lots_vary_them(name: str) -> None:
    game = find_game(name)
    start = game.start(game.parse(*BOARDS[name]))

    def record(seed: int):
        rng = random.Random(seed)
        players = [make_player(read_spec(s), start.board, rng) for s in ("greedy", "random")]
        return referee(start, *players).moves

    assert record(3) == record(3)
    assert len({record(seed) for seed in range(6)}) > 1


@pytest.mark.parametrize("name", BOARDS)
def test_the_referee_names_the_winner_of_the_moves(name: str) -> None:
    game = find_game(name)
    board = game.parse(*BOARDS[name])
    winners = set()
    for seed in range(12):
        rngs = random.Random(seed), random.Random(seed + 50)
        record = referee(board, *(make_player(read_spec("random"), board, rng) for rng in rngs))
        position = game.start(board)
        for text in record.text.split():
            position = position._play(game.read_move(position, text))
        assert position.is_over()
        mover = position.side_to_move
        other = "second" if mover == "first" else "first"
        assert record.result.winner == {1: mover, 0: None, -1: other}[position.outcome()]
        winners.add(record.result.winner)
    assert len(winners) > 1


def test_looking_deeper_wins_more() -> None:
    game = find_game("connect4")
    start = game.start(game.parse("5x4", {}))
    points = 0
    for seed in range(10):
        deep, shallow = (
            make_player(read_spec(s), start.board, random.Random(seed))
            for s in ("alphabeta:4", "random")
        )
        as_first = referee(start, deep, shallow).result.winner
        as_second = referee(start, shallow, deep).result.winner
        points += (as_first == "first") + (as_second == "second")
    assert points >= 16


@pytest.mark.parametrize("name", ["mnk", "puissance-plus"])
def test_the_plausible_filter_is_used_on_every_ply(name: str) -> None:
    """The player chooses as plain minimax over plausible moves does, from fewer nodes."""

    def value(position, left: int) -> int:
        outcome = position.outcome()
        if outcome is not None:
            return outcome * (DECIDED - 3 + left)
        if left == 0:
            return evaluate(position)
        return max(-value(position._play(move), left - 1) for move in plausible_moves(position))

    game, evaluate = find_game(name), find_evaluation(name)
    plausible_moves = game.filters["plausible"]
    fewer = 0
    for position in some_positions(name, 12, most_plies=5):
        kept = plausible_moves(position)
        scores = {move: -value(position._play(move), 2) for move in kept}
        for kind, look in (("minimax", minimax), ("alphabeta", alpha_beta)):
            player = make_player(read_spec(f"{kind}:3:plausible"), position.board, random.Random(2))
            move = player.choose(position)
            assert scores[move] == max(scores.values())
            found = look(position, 3, evaluate, candidates=plausible_moves)
            assert found.score == max(scores.values())
            fewer += found.nodes < look(position, 3, evaluate).nodes
    assert fewer > 6


def test_the_plausible_filter_overlooks_the_winning_corner() -> None:
    """The counter-example of docs/puissance-plus.md: with the filter no depth finds the win."""
    game = find_game("mnk")
    position = game.read_position(game.parse("3x3", {}), "a1 c3")
    for text, corners in (("alphabeta:7", True), ("alphabeta:7:runs:plausible", False)):
        move = make_player(read_spec(text), position.board, random.Random(1)).choose(position)
        assert (game.write_move(position, move) in ("c1", "a3")) == corners


@pytest.mark.parametrize("kind", ["minimax", "alphabeta"])
def test_an_interrupt_leaves_the_best_so_far(kind: str) -> None:
    """And who watches is told of nodes, move by move."""
    board = make_board("5x4")
    position, player = (
        board.position("1213"),
        make_player(read_spec(f"{kind}:3"), board, random.Random(2)),
    )
    seen: list[int] = []

    def report(nodes: int, seconds: float) -> None:
        seen.append(nodes)
        if len(seen) == 3:
            raise KeyboardInterrupt

    player.report = report
    with pytest.raises(KeyboardInterrupt):
        player.choose(position)
    assert seen == sorted(seen)
    assert player.nodes == seen[-1]
    moves = position._numbers()
    random.Random(2).shuffle(moves)
    best = minimax(position, 3, find_evaluation("connect4"), moves[:3])
    assert player.found == best.move


@pytest.mark.parametrize(
    ("name", "board"), [("alphabeta:4", "quarto"), ("alphabeta:5", "mnk 20x20")]
)
def test_one_move_that_takes_long_to_judge_is_interrupted(name: str, board: str) -> None:
    """Who watches is asked while the first move is judged, not only after it."""
    position = make_board(board).start()
    player = make_player(read_spec(name), position.board, random.Random(1))

    def report(nodes: int, seconds: float) -> None:
        if seconds > 0.3:
            raise KeyboardInterrupt

    player.report = report
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        player.choose(position)
    assert time.monotonic() - begin < 5
    assert player.found in position._numbers()


def test_half_a_move_deep_is_the_classic_program() -> None:
    """The move after which its evaluation is best; only Puissance Plus had the program."""
    game = find_game("puissance-plus")
    classic = game.evaluations["classic"]
    player = make_player(read_spec("half"), make_board("puissance-plus"), random.Random(3))
    assert player.name == "half"
    for position in some_positions("puissance-plus", 10, most_plies=5):
        after = {move: position._play(move) for move in position._numbers()}
        chosen = after[player.choose(position)]
        if chosen.is_over():
            assert chosen.outcome() == -1
        else:
            assert classic(chosen) == min(classic(p) for p in after.values() if not p.is_over())
    for text in ("minimax:2:classic", "alphabeta:2:classic:plausible"):
        start = make_board("puissance-plus 4x4").start()
        make_player(read_spec(text), start.board, random.Random(3)).choose(start)
    with pytest.raises(BadTextError, match="mnk has: runs"):
        make_player(read_spec("half"), make_board("mnk"), random.Random(3))


def test_only_games_of_runs_have_plausible_moves() -> None:
    with pytest.raises(BadTextError, match="plausible moves have: mnk, puissance-plus"):
        make_player(read_spec("minimax:2:plausible"), make_board("quarto"), random.Random(1))


@pytest.mark.parametrize(
    "text",
    [
        *("", "deep", "alphabeta", "alphabeta:0", "random:3", "minimax:x", "perfect:2", "human:a"),
        *("greedy:plausible", "random:plausible", "alphabeta:plausible", "alphabeta:2:plausible:a"),
    ],
)
def test_bad_specs_get_one_line(text: str) -> None:
    with pytest.raises(BadTextError, match="wanted one of human, beginner, easy"):
        read_spec(text)


def test_specs_read_back() -> None:
    texts = ("human", "perfect", "random", "greedy:cells", "minimax:3", "alphabeta:12:cells")
    for text in (
        *texts,
        "uct:500",
        "uct:0.5s",
        "exec:./a b",
        "my.py:A",
        "hard",
        "greedy",
        "minimax:3:plausible",
        "alphabeta:2:runs:plausible",
    ):
        assert str(read_spec(text)) == text
    assert str(read_spec("computer")) == "perfect"
    with pytest.raises(BadTextError, match="mnk has: runs"):
        make_player(read_spec("greedy:cells"), make_board("mnk"), random.Random(1))
