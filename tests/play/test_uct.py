"""Monte-Carlo tree search: the kernels against a plain twin, and what every UCT must find."""

import random
from functools import cache
from itertools import count
from types import SimpleNamespace

import pytest
from plain import uct as plain

from retro.errors import BadTextError, DoesNotFitError, GameOverError
from retro.games import kernels
from retro.games.catalogue import NAMES, make_board
from retro.play.uct import EXPLORATION, NODES, Limit, Search, UctPlayer, think

BOARDS = {
    "connect4": "connect4 5x4",
    "mnk": "mnk 4x3 connect=3",
    "puissance-plus": "puissance-plus 4x3 target=5",
    "domineering": "domineering 4x4",
    "notakto": "notakto 3x3",
    "quarto": "quarto 2x2 attributes=3",
}


def test_every_game_is_tried() -> None:
    assert set(BOARDS) == set(NAMES)


def start(name: str):
    return make_board(BOARDS[name]).start()


def search_of(position, seed: int, **options) -> Search:
    return Search(position.board.rules, position._state, seed, **options)


def plain_game(board) -> plain.Game:
    """A game for the twin: plain positions, moves by the numbers of the kernels."""

    @cache
    def successors(position):
        after = {position._play(move)._state: position._play(move) for move in position._numbers()}
        numbered = kernels.successors_of(board.rules, *position._state).items()
        return {number: after[state] for number, state in numbered}

    return plain.Game(
        kernels.move_limit_of(board.rules),
        lambda position, number: successors(position).get(number),
        lambda position: position.outcome(),
    )


@pytest.mark.parametrize("name", BOARDS)
def test_the_tree_is_the_plain_one(name: str) -> None:
    position = start(name)
    rng = random.Random(3)
    for seed in (1, 2):
        root = plain.search(plain_game(position.board), position, seed, EXPLORATION, 60)
        search = search_of(position, seed)
        search.run(Limit(playouts=60))
        found = {tried.move: (tried.visits, tried.mean) for tried in search.moves()}
        assert found == {
            move: (node.visits, node.mean() if node.visits else 0.0)
            for move, node in root.children.items()
        }
        position = position._play(rng.choice(position._numbers()))


def nodes_of(node: plain.Node) -> int:
    return 1 + sum(nodes_of(child) for child in node.children.values())


def test_the_whole_tree_is_the_plain_one() -> None:
    """Late in a small game the tree reaches its leaves: more playouts, the same nodes."""
    position = make_board("mnk 3x3 connect=3").position("a1 b2 c3")
    root = plain.search(plain_game(position.board), position, 9, EXPLORATION, 500)
    search = search_of(position, 9)
    search.run(Limit(playouts=500))
    assert search.nodes == nodes_of(root)
    assert [tried.visits for tried in search.moves()] == [c.visits for c in root.children.values()]


def test_slices_do_not_change_the_tree() -> None:
    position = start("mnk")
    whole, parts = search_of(position, 5), search_of(position, 5)
    whole.run(Limit(playouts=3000))
    for playouts in (1, 999, 2000):
        parts.run(Limit(playouts=playouts))
    assert parts.moves() == whole.moves()
    assert (parts.playouts, parts.nodes) == (3000, whole.nodes)
    other = search_of(position, 6)
    other.run(Limit(playouts=3000))
    assert other.moves() != whole.moves()


def test_a_full_tree_is_searched_on() -> None:
    position = start("mnk")
    search = search_of(position, 1, nodes=64)
    search.run(Limit(playouts=2000))
    assert 1 + 12 <= search.nodes <= 64
    assert sum(tried.visits for tried in search.moves()) == 2000
    with pytest.raises(DoesNotFitError, match="room for 12 nodes"):
        search_of(position, 1, nodes=12)


def test_seconds_are_kept_and_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that goes on by a hundredth of a second whenever somebody looks at it."""
    looks = count()
    clock = SimpleNamespace(monotonic=lambda: next(looks) / 100)
    monkeypatch.setattr("retro.deadline.time", clock)
    search = search_of(start("connect4"), 1)
    reports: list[tuple[int, float]] = []
    search.run(Limit(seconds=0.3), lambda *told: reports.append(told))
    assert 0.25 <= search.seconds <= 0.35
    assert len(reports) > 5
    assert reports == sorted(reports)
    assert reports[-1] == (search.playouts, search.seconds)


def test_a_player_limited_by_seconds_alone_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    """It searches until they are over, with room for as many nodes as any search may make."""
    looks = count()
    clock = SimpleNamespace(monotonic=lambda: next(looks) / 100)
    monkeypatch.setattr("retro.deadline.time", clock)
    position = start("connect4")
    player = UctPlayer(Limit(seconds=0.3), seed=2)
    assert player.name == "uct (0.3 s)"
    assert player.choose(position) in position._numbers()
    assert player.thought is not None
    assert 0.25 <= player.thought.seconds <= 0.35
    same = search_of(position, 2, nodes=NODES)
    same.run(Limit(playouts=player.thought.playouts))
    assert player.thought == think(position, same)._replace(seconds=player.thought.seconds)


def test_an_interrupt_leaves_the_best_so_far() -> None:
    position = start("connect4")

    def interrupt(playouts: int, seconds: float) -> None:
        if playouts > 200:
            raise KeyboardInterrupt

    player = UctPlayer(Limit(playouts=10**9), report=interrupt)
    with pytest.raises(KeyboardInterrupt):
        player.choose(position)
    assert player.thought is not None
    assert player.thought.move in position._numbers()
    assert player.thought.playouts > 200


def decisive(position):
    """(moves that win at once, moves after which the opponent cannot)."""

    def wins(at):
        return [m for m in at._numbers() if at._play(m).outcome() == -1]

    moves = position._numbers()
    return wins(position), [m for m in moves if not wins(position._play(m))]


@pytest.mark.parametrize("name", [name for name in BOARDS if name != "notakto"])
@pytest.mark.parametrize("playouts", [1, 3000])
def test_wins_in_one_are_played_and_those_of_the_opponent_prevented(
    name: str, playouts: int
) -> None:
    """Whatever the playouts said. (Who ends a game of Notakto has lost it.)"""
    position = start(name)
    rng = random.Random(11)
    won = prevented = 0
    for seed in range(60):
        at = position
        for _ in range(rng.randrange(12)):
            if not at.is_over():
                at = at._play(rng.choice(at._numbers()))
        if at.is_over():
            continue
        wins, safe = decisive(at)
        if not wins and not 0 < len(safe) < len(at._numbers()):
            continue
        move = UctPlayer(Limit(playouts=playouts), seed=seed).choose(at)
        assert move in (wins or safe), f"{at.text}: {move}"
        won += bool(wins)
        prevented += not wins
    assert won >= 3
    assert prevented >= 1


def test_playouts_alone_find_wins_in_one_and_blocks() -> None:
    """The tree itself, without the look at two plies: most visits go to the only good move."""
    board = make_board("mnk 5x5 connect=4")
    for text, wanted in (("a1 e1 a2 e2 a3 e3", "a4"), ("c3 a1 e5 a2 d1 a3", "a4")):
        position = board.position(text)
        search = search_of(position, 1)
        search.run(Limit(playouts=4000))
        most = max(search.moves(), key=lambda tried: tried.visits)
        after = position._play(position._number_of(wanted))._state
        assert search.after(most.move) == after


def test_it_finds_the_value_of_small_boards() -> None:
    """3x3 in a row is a draw; from a corner answered at the edge the first player wins."""
    board = make_board("mnk 3x3 connect=3")
    drawn = search_of(board.position("a1 b2"), 1)
    won = search_of(board.position("a1 b1"), 1)
    for search in (drawn, won):
        search.run(Limit(playouts=60_000))
    assert abs(drawn.best().mean) < 0.1
    assert won.best().mean > 0.9


def test_a_player_says_what_it_did() -> None:
    position = start("connect4")
    player = UctPlayer(Limit(playouts=2000), seed=4)
    assert player.name == "uct (2000 playouts)"
    move = player.choose(position)
    thought = player.thought
    assert thought is not None
    assert thought.move == move == thought.moves[0].move
    assert thought.playouts == sum(tried.visits for tried in thought.moves) == 2000
    assert {tried.move for tried in thought.moves} == set(position._numbers())
    assert player.remark.startswith("2,000 playouts in ")
    text = position._text_of(move)
    assert f": {text} {thought.moves[0].visits:,} visits, mean +" in player.remark


def test_the_same_seed_plays_the_same_game() -> None:
    position = start("domineering")

    def moves(seed: int) -> list[int]:
        player, at, made = UctPlayer(Limit(playouts=50), seed=seed), position, []
        while not at.is_over():
            made.append(player.choose(at))
            at = at._play(made[-1])
        return made

    assert moves(1) == moves(1)
    assert len({tuple(moves(seed)) for seed in range(6)}) > 1


@pytest.mark.parametrize("playouts", [1, 10, 300])
@pytest.mark.parametrize("name", NAMES)
def test_a_tree_for_few_playouts_has_all_the_room_it_needs(name: str, playouts: int) -> None:
    position, limit = start(name), Limit(playouts=playouts)
    player = UctPlayer(limit, 4)
    chosen, large = player.choose(position), search_of(position, 4)
    large.run(limit)
    assert player.thought == think(position, large)._replace(seconds=player.thought.seconds)
    assert chosen == player.thought.move


def test_more_playouts_win_more() -> None:
    position = start("connect4")
    points = 0
    for seed in range(10):
        strong, weak = (UctPlayer(Limit(playouts=n), seed) for n in (1000, 10))
        for players in ((strong, weak), (weak, strong)):
            at = position
            while not at.is_over():
                at = at._play(players[at.ply % 2].choose(at))
            if at.outcome() and players[1 - at.ply % 2] is strong:
                points += 1
    assert points >= 14


def test_what_cannot_be_searched() -> None:
    position = start("mnk")
    over = position.board.position("a1 b1 a2 b2 a3")
    assert over.is_over()
    with pytest.raises(GameOverError, match="the game is over"):
        search_of(over, 1)
    for bad in ({}, {"playouts": 0}, {"seconds": -1.0}):
        with pytest.raises(BadTextError, match="wanted playouts or seconds above 0"):
            Limit(**bad)
