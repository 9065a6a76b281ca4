"""Players of any game: minimax is alpha-beta, depth finds what it must, the referee is fair."""

import random

import pytest

from retro.errors import BadTextError
from retro.games.catalogue import find_game
from retro.search.evaluations import EVALUATIONS, find_evaluation
from retro.search.lookahead import DECIDED, alpha_beta, minimax
from retro.search.players import make_player, read_spec, referee, winner

BOARDS = {
    "connect4": ("5x4", {}),
    "mnk": ("4x3", {"connect": "3"}),
}


def some_positions(name: str, number: int, seed: int = 5):
    """Unfinished positions of random games."""
    game = find_game(name)
    board = game.parse(*BOARDS[name])
    rng = random.Random(seed)
    found = []
    while len(found) < number:
        position = game.start(board)
        for _ in range(rng.randrange(8)):
            if not position.is_over():
                position = position.play(rng.choice(position.legal_moves()))
        if not position.is_over():
            found.append(position)
    return found


@pytest.mark.parametrize("name", BOARDS)
@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_alpha_beta_is_minimax_with_fewer_nodes(name: str, depth: int) -> None:
    fewer = False
    for evaluate in EVALUATIONS[name].values():
        for position in some_positions(name, 8):
            slow, fast = (look(position, depth, evaluate) for look in (minimax, alpha_beta))
            assert (fast.move, fast.score) == (slow.move, slow.score)
            assert fast.nodes <= slow.nodes
            fewer = fewer or fast.nodes < slow.nodes
    assert fewer == (depth > 1)


@pytest.mark.parametrize("name", BOARDS)
def test_evaluations_change_sign_with_the_players(name: str) -> None:
    """Exchanging the colours of all stones exchanges the signs, on even plies and odd ones."""
    for position in some_positions(name, 30):
        swapped = type(position)(position.board, position.second, position.first)
        if position.ply % 2 == 0:
            for evaluate in EVALUATIONS[name].values():
                assert evaluate(swapped) == -evaluate(position)


@pytest.mark.parametrize("name", BOARDS)
def test_deep_enough_is_perfect(name: str) -> None:
    """With a horizon beyond the end, the score is the value and says how fast."""
    from retro.games.connect import Board
    from retro.games.mnk import MnkBoard
    from retro.search.connect_game import ConnectGame
    from retro.search.ladder import search
    from retro.search.mnk_game import MnkGame

    for position in some_positions(name, 6, seed=8):
        while position.ply < position.board.cells - 6 and not position.is_over():
            position = position.play(position.legal_moves()[-1])
        if position.is_over():
            continue
        is_connect = isinstance(position.board, Board)
        assert is_connect or isinstance(position.board, MnkBoard)
        rules = ConnectGame(position.board) if is_connect else MnkGame(position.board)
        found = alpha_beta(position, 6, find_evaluation(name))
        value = search(rules, rules.state(position)).value
        assert found.score == 0 or abs(found.score) >= DECIDED - 6
        assert (found.score > 0) - (found.score < 0) == value


def test_a_win_at_once_beats_a_later_one() -> None:
    game = find_game("connect4")
    position = game.read_position(game.parse("7x6", {}), "1212127")
    for spec in ("greedy", "minimax:2", "alphabeta:4"):
        player = make_player(read_spec(spec), game, random.Random(1))
        for _ in range(5):
            assert player.choose(position.undo()) == 0
    # The other side must block, which takes two plies to see.
    for spec in ("minimax:2", "alphabeta:3"):
        assert make_player(read_spec(spec), game, random.Random(1)).choose(position) in (0, 1)


@pytest.mark.parametrize("name", BOARDS)
def test_seeds_decide_games_and_lots_vary_them(name: str) -> None:
    game = find_game(name)
    start = game.start(game.parse(*BOARDS[name]))

    def record(seed: int):
        rng = random.Random(seed)
        players = [make_player(read_spec(s), game, rng) for s in ("greedy", "random")]
        return referee(game, start, *players)

    assert record(3) == record(3)
    assert len({record(seed).moves for seed in range(6)}) > 1


@pytest.mark.parametrize("name", BOARDS)
def test_the_referee_names_the_winner_of_the_moves(name: str) -> None:
    game = find_game(name)
    board = game.parse(*BOARDS[name])
    winners = set()
    for seed in range(12):
        players = [make_player(read_spec("random"), game, random.Random(seed + i)) for i in (0, 50)]
        record = referee(game, game.start(board), *players)
        position = game.start(board)
        for text in record.moves:
            position = position.play(game.read_move(position, text))
        assert position.is_over()
        assert record.winner == winner(position) == position.winner()
        winners.add(record.winner)
    assert len(winners) > 1


def test_looking_deeper_wins_more() -> None:
    game = find_game("connect4")
    start = game.start(game.parse("5x4", {}))
    points = 0
    for seed in range(10):
        deep, shallow = (
            make_player(read_spec(s), game, random.Random(seed)) for s in ("alphabeta:4", "random")
        )
        as_first = referee(game, start, deep, shallow).winner
        as_second = referee(game, start, shallow, deep).winner
        points += (as_first == "first") + (as_second == "second")
    assert points >= 16


@pytest.mark.parametrize(
    "text",
    ["", "deep", "alphabeta", "alphabeta:0", "random:3", "minimax:x", "perfect:2", "human:a"],
)
def test_bad_specs_get_one_line(text: str) -> None:
    with pytest.raises(BadTextError, match="wanted one of human, perfect, random"):
        read_spec(text)


def test_specs_read_back() -> None:
    for text in ("human", "perfect", "random", "greedy", "minimax:3", "alphabeta:12:cells"):
        assert str(read_spec(text)) == text
    assert str(read_spec("computer")) == "perfect"
    with pytest.raises(BadTextError, match="mnk has: runs"):
        make_player(read_spec("greedy:cells"), find_game("mnk"), random.Random(1))
