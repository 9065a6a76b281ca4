"""The page as people use it, in a real browser: by mouse, by keyboard, on a phone, at night."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from web_cases import Visitor

from retro.play.record_text import read_record

pytestmark = pytest.mark.browser

BOARDS = [
    {"game": "connect4", "board": "4x4"},
    {"game": "mnk", "board": "3x3"},
    {"game": "puissance-plus", "board": "3x3"},
    {"game": "domineering", "board": "3x3"},
    {"game": "quarto", "board": "2x2"},
    {"game": "notakto", "board": "3x3"},
]
IDS = [board["game"] for board in BOARDS]
MOST_PLIES = 40


def click_target(visitor: Visitor, number: int) -> None:
    """Click in the middle of a target with the mouse."""
    box = visitor.targets().nth(number).locator(".ghost").bounding_box()
    visitor.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def leave(visitor: Visitor, dialog: str) -> None:
    """Close a dialog by Escape; a key that is pressed before the focus is back is lost."""
    visitor.page.keyboard.press("Escape")
    visitor.page.wait_for_selector(f"{dialog}:not([open])", state="attached")
    visitor.page.wait_for_function("() => !document.activeElement.closest('dialog')")


def play_on(visitor: Visitor, choose: Any) -> int:
    """Let somebody choose targets until the game is over; how many moves it took."""
    for ply in range(MOST_PLIES):
        if visitor.is_over:
            return ply
        choose()
        if visitor.page.locator("#board .target.chosen").count():  # half a move: a piece to give
            visitor.page.wait_for_selector('#board .target[data-key^="piece"]')
            choose(gift=True)
        visitor.wait(f"{ply + 1}/{ply + 1}")
    raise AssertionError("the game does not end")


def test_links_of_another_page_open_here(visitor: Visitor) -> None:
    visitor.open(pos="4453")
    visitor.wait("4/4")


@pytest.mark.parametrize("board", BOARDS, ids=IDS)
def test_every_game_is_played_to_its_end_by_mouse(board: dict[str, str], visitor: Visitor) -> None:
    visitor.open(**board)

    def choose(gift: bool = False) -> None:
        keys = visitor.targets().evaluate_all("all => all.map(one => one.dataset.key)")
        gifts = [n for n, key in enumerate(keys) if key.startswith("piece")]
        click_target(visitor, gifts[-1] if gift else len(keys) // 2 if not gifts else gifts[0])

    plies = play_on(visitor, choose)
    assert visitor.turn.endswith("has won") or visitor.turn == "A draw"
    visitor.page.click("#undo")
    visitor.wait(f"{plies - 1}/{plies}")
    assert not visitor.is_over
    visitor.page.click("#redo")
    visitor.wait(f"{plies}/{plies}")
    assert visitor.is_over


@pytest.mark.parametrize("board", BOARDS, ids=IDS)
def test_every_game_is_played_to_its_end_by_keyboard(
    board: dict[str, str], visitor: Visitor
) -> None:
    visitor.open(**board)
    keyboard = visitor.page.keyboard

    def choose(gift: bool = False) -> None:
        if not gift:
            visitor.page.focus('#board .target[tabindex="0"]')
            keyboard.press("ArrowRight")
        keyboard.press("Enter")

    plies = play_on(visitor, choose)
    visitor.page.focus("#word")
    visitor.page.evaluate("document.activeElement.blur()")
    keyboard.press("Home")
    visitor.wait(f"0/{plies}")
    keyboard.press("ArrowRight")
    visitor.wait(f"1/{plies}")
    keyboard.press("End")
    visitor.wait(f"{plies}/{plies}")


def test_the_line_that_ended_the_game_is_marked(visitor: Visitor) -> None:
    visitor.open(board="4x4", moves="1212121")
    assert visitor.turn == "X has won"
    assert "4 in a line" in visitor.page.inner_text("#verdict")
    assert visitor.page.locator("#board .line").count() == 4
    assert visitor.targets().count() == 0


def test_a_domino_is_seen_before_it_is_laid(visitor: Visitor) -> None:
    visitor.open(game="domineering", board="3x3")
    place = visitor.targets().nth(2).locator(".ghost").bounding_box()
    visitor.page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    box = visitor.page.locator("#board .preview").bounding_box()
    assert box["height"] > 1.5 * box["width"]
    assert visitor.page.locator("#board .target.near").count() == 1
    visitor.page.mouse.move(1, 1)
    visitor.page.wait_for_selector("#board .preview", state="detached")


def test_keys_do_what_buttons_do(visitor: Visitor) -> None:
    visitor.open(board="4x4", moves="12")
    visitor.page.wait_for_selector("#board .chip")
    keyboard = visitor.page.keyboard
    keyboard.press("h")
    visitor.page.wait_for_selector("#board .hinted")
    keyboard.press("v")
    visitor.page.wait_for_selector("#board .chip", state="detached")
    keyboard.press("f")
    visitor.page.wait_for_selector('#flip[aria-pressed="true"]')
    keyboard.press("?")
    visitor.page.wait_for_selector("#keys[open]")
    leave(visitor, "#keys")
    keyboard.press("m")
    keyboard.type("4")
    keyboard.press("Enter")
    visitor.wait("3/3")
    visitor.page.evaluate("document.activeElement.blur()")
    keyboard.press("Backspace")
    visitor.wait("2/3")
    keyboard.press("e")
    visitor.page.wait_for_selector("#editor[open]")
    leave(visitor, "#editor")
    keyboard.press("n")
    visitor.wait("0/0")


def test_after_a_move_the_keyboard_is_near_it_and_the_mouse_is_left_alone(visitor: Visitor) -> None:
    visitor.open(board="4x4")
    visitor.page.focus('#board .target[data-move="3"]')
    visitor.page.keyboard.press("Enter")
    visitor.wait("1/1")
    assert visitor.page.evaluate("document.activeElement.dataset.move") == "3"
    click_target(visitor, 0)
    visitor.wait("2/2")
    assert visitor.page.locator("#board .near, #board .preview").count() == 0


def test_everything_that_can_be_used_has_a_name(visitor: Visitor) -> None:
    nameless = """() => [...document.querySelectorAll("button, select, input, [role=button]")]
        .filter((one) => one.checkVisibility())
        .filter((one) => !(one.getAttribute("aria-label") || one.innerText || one.title
            || one.textContent || one.labels?.length)).map((one) => one.outerHTML)"""
    for path, fields in (("/", {"board": "5x4"}), ("/", {"game": "quarto"}), ("/tables", {})):
        visitor.open(path, **fields)
        assert visitor.page.evaluate(nameless) == []


def test_values_are_letters_with_numbers_for_everyone(visitor: Visitor) -> None:
    visitor.open(board="5x4", moves="443")
    # The whole answer comes last: by then every move has its number.
    visitor.page.wait_for_selector('#verdict:has-text("win in 17 plies")')
    assert visitor.page.locator('#board .chip.W text:text-is("W 17")').count() == 1
    label = visitor.page.get_attribute('#board .target[data-move="2"]', "aria-label")
    assert label == "play 2, win in 17 plies"
    rows = visitor.page.locator("#moves .chip").all_inner_texts()
    assert rows == ["W 17", "D", "D", "L 4", "L 4"]
    # The blunder of the third move is marked in the list and in the graph.
    visitor.page.wait_for_selector("#history .blunder")
    assert visitor.page.locator("#graph .point.blunder").count() == 1


def test_values_can_be_hidden_and_hints_given(visitor: Visitor) -> None:
    visitor.open(board="4x4", hide="on")
    assert visitor.page.locator("#board .chip").count() == 0
    assert visitor.page.locator("#moves .chip.W, #moves .chip.D, #moves .chip.L").count() == 0
    assert visitor.page.inner_text("#rated h2") == "Moves"
    assert visitor.page.inner_text("#source") == "Values are hidden."
    visitor.page.click("#values")
    visitor.page.wait_for_selector("#board .chip")
    visitor.page.click("#hint")
    visitor.page.wait_for_selector("#board .hinted")
    assert "Hint:" in visitor.page.inner_text("#said")


def test_links_are_the_state_and_back_goes_back(visitor: Visitor) -> None:
    visitor.open(game="mnk", board="3x3", moves="b2 a1")
    visitor.page.fill("#word", "c3")
    visitor.page.press("#word", "Enter")
    visitor.wait("3/3")
    address = visitor.page.url
    assert "moves=b2+a1+c3" in address
    visitor.page.go_back()
    visitor.wait("2/2")
    visitor.page.go_forward()
    visitor.wait("3/3")
    other = visitor.page.context.new_page()
    other.goto(address)
    other.wait_for_selector('body[data-shown="3/3"]')
    assert other.inner_text("#turn") == visitor.turn
    other.close()


def test_a_link_that_leads_nowhere_says_so(visitor: Visitor) -> None:
    visitor.may_fail = True
    visitor.open(game="mnk", board="3x3", moves="b2 b2")
    said = visitor.page.inner_text("#said")
    assert said.startswith("This link leads nowhere: move 2"), said
    assert visitor.page.locator("#board .target").count() > 0


def test_the_history_is_clicked_and_replayed(visitor: Visitor) -> None:
    visitor.open(board="4x4", moves="12341")
    visitor.page.click("#history li:nth-child(3) button")
    visitor.wait("2/5")
    visitor.page.click("#last")
    visitor.wait("5/5")
    visitor.page.fill("#speed", "10")
    visitor.page.evaluate("""() => {
        window.seen = [];
        const look = () => window.seen.push(document.body.dataset.shown);
        new MutationObserver(look).observe(document.body, { attributes: true });
    }""")
    visitor.page.click("#play")
    visitor.page.wait_for_function(
        "() => window.seen.includes('0/5') && window.seen.at(-1) === '5/5'"
    )
    visitor.page.wait_for_selector('#play:text-is("Replay")')


def test_the_graph_has_a_gap_where_nothing_is_known(visitor: Visitor) -> None:
    visitor.may_fail = True
    error = {"error": "not solved within 20 s", "kind": "TimeLimitError", "exit_code": 6}
    visitor.page.route("**/api/v1/position?*", lambda route: route.fulfill(status=503, json=error))
    visitor.open(board="4x4", moves="1234")
    visitor.page.wait_for_selector("#board .chip")
    assert visitor.page.locator("#graph .point").count() == 1
    visitor.page.click("#first")
    visitor.wait("0/4")
    visitor.page.wait_for_selector("#graph .point:nth-of-type(2)")
    assert visitor.page.locator("#graph .curve").count() == 0
    visitor.page.click("#redo")
    visitor.wait("1/4")
    visitor.page.wait_for_selector("#graph .curve", state="attached")
    assert visitor.page.locator("#graph .curve").count() == 1


def test_flip_mirrors_the_board(visitor: Visitor) -> None:
    visitor.open(board="4x4", moves="1")
    spot = '#board .target[data-move="1"] .ghost'
    left = visitor.page.locator(spot).bounding_box()["x"]
    visitor.page.click("#flip")
    visitor.page.wait_for_selector('#flip[aria-pressed="true"]')
    visitor.page.wait_for_function(
        "([spot, left]) => document.querySelector(spot)?.getBoundingClientRect().x > left + 50",
        arg=[spot, left],
    )


def test_a_computer_answers_and_says_why(visitor: Visitor) -> None:
    visitor.open(game="mnk", board="3x3", second="perfect")
    click_target(visitor, 4)
    visitor.wait("2/2")
    thought = visitor.page.inner_text("#thought")
    assert re.match(r"perfect played \w\d in \d+\.\d\d s.*: \w+", thought), thought
    visitor.page.click("#undo")  # to the human's turn
    visitor.wait("0/2")


def test_after_a_computer_has_won_undo_goes_to_the_humans_turn(visitor: Visitor) -> None:
    visitor.open(game="mnk", board="3x3", moves="a1 a2 b1 b2 c3 c2", second="perfect")
    assert visitor.turn == "O has won"
    visitor.page.click("#undo")
    visitor.wait("4/6")
    assert visitor.targets().count() == 5
    visitor.page.keyboard.press("ArrowRight")  # where the computer moved nobody else can
    visitor.wait("5/6")
    assert visitor.targets().count() == 0
    assert visitor.page.inner_text("#said") == "Here perfect played c2."


def test_levels_play_against_each_other(visitor: Visitor) -> None:
    visitor.open(game="mnk", board="3x3")
    visitor.page.fill("#speed", "10")
    visitor.page.select_option("#seat-first", "beginner")
    visitor.page.select_option("#seat-second", "easy")
    visitor.page.wait_for_selector('body[data-over="yes"]')


def test_computers_wait_when_they_are_told_to(visitor: Visitor) -> None:
    visitor.open(board="5x4", first="random", second="random")
    visitor.page.fill("#speed", "1")  # a game takes longer than a click, however slow that is
    visitor.page.wait_for_selector('body:not([data-shown="0/0"])')
    visitor.page.click("#play")
    visitor.page.wait_for_selector('#play:text-is("Go on")')
    shown = visitor.page.get_attribute("body", "data-shown")
    visitor.page.wait_for_selector("#moves .chip:not(.none)")  # meanwhile it can be studied
    assert visitor.page.get_attribute("body", "data-shown") == shown
    visitor.page.fill("#speed", "10")
    visitor.page.click("#play")
    visitor.page.wait_for_selector('body[data-over="yes"]')


def test_a_search_that_took_too_long_can_go_on(visitor: Visitor) -> None:
    error = {"error": "not solved within 20 s", "kind": "TimeLimitError", "exit_code": 6}
    events = f"event: error\ndata: {json.dumps(error)}\n\nevent: end\ndata: {{}}\n\n"
    visitor.page.route(
        "**/position/events*",
        lambda route: route.fulfill(body=events, content_type="text/event-stream"),
        times=1,
    )
    visitor.open(board="4x4", moves="12")
    visitor.page.wait_for_selector("#again:not(.hidden)")
    assert "Not solved within 20 s" in visitor.page.inner_text("#source")
    visitor.page.click("#again")
    visitor.page.wait_for_selector("#board .chip")
    visitor.page.wait_for_selector("#again", state="hidden")


def test_a_first_search_that_takes_its_time_says_why(visitor: Visitor) -> None:
    held: list[Any] = []
    visitor.page.route("**/position/events*", lambda route: held.append(route), times=1)
    visitor.page.route("**/move?*", lambda route: held.append(route), times=1)
    visitor.open(game="mnk", board="3x3")
    visitor.page.wait_for_selector('#source:has-text("The first time after an installation")')
    held.pop().continue_()
    visitor.page.wait_for_selector("#board .chip")
    assert "first time" not in visitor.page.inner_text("#source")
    visitor.page.select_option("#seat-first", "easy")
    visitor.page.wait_for_selector('#thought:has-text("easy thinks… The first time")')
    held.pop().continue_()
    visitor.wait("1/1")
    assert "easy played" in visitor.page.inner_text("#thought")


def test_a_board_that_does_not_exist_changes_nothing(visitor: Visitor) -> None:
    visitor.may_fail = True
    visitor.open(board="4x4", moves="12")
    address = visitor.page.url
    visitor.page.fill("#size", "0x0")
    visitor.page.press("#size", "Enter")
    visitor.page.wait_for_function("() => document.getElementById('said').innerText !== ''")
    assert visitor.page.url == address
    visitor.page.click("#undo")
    visitor.wait("1/2")


def test_a_board_that_is_hardly_a_game_offers_another(visitor: Visitor) -> None:
    visitor.open(game="mnk", board="3x3")
    preset = visitor.page.locator("#preset")
    assert preset.is_hidden()
    visitor.page.select_option("#game", "puissance-plus")
    preset.wait_for(state="visible")
    assert "X wins this board in three plies." in preset.inner_text()
    preset.locator("button", has_text="Play 8x8 target 12 values rings").click()
    preset.wait_for(state="hidden")
    assert "target=12" in visitor.page.url
    assert "values=rings" in visitor.page.url
    assert "worth 12" in visitor.page.inner_text("#about")
    visitor.page.go_back()
    preset.wait_for(state="visible")


def test_a_game_is_saved_and_loaded(visitor: Visitor, tmp_path: Path) -> None:
    visitor.open(game="domineering", board="3x3", moves="b1 a3")
    with visitor.page.expect_download() as waiting:
        visitor.page.click("#save")
    path = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(path)
    assert read_record(path.read_text()).text == "b1 a3"
    visitor.open(game="mnk", board="3x3")
    visitor.page.set_input_files("#file", path)
    visitor.wait("2/2")
    assert "game=domineering" in visitor.page.url
    for button, begin in (("#svg", b"<svg"), ("#png", b"\x89PNG")):
        with visitor.page.expect_download() as waiting:
            visitor.page.click(button)
        picture = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(picture)
        assert picture.read_bytes().startswith(begin)


def test_a_loaded_game_goes_on_against_the_same_computer(visitor: Visitor, tmp_path: Path) -> None:
    path = tmp_path / "game.txt"
    path.write_text("mnk 3x3 connect=3\nb2 a1\n# version: 1\n# first: human\n# second: easy\n")
    visitor.open(board="4x4")
    visitor.page.set_input_files("#file", path)
    visitor.wait("2/2")
    visitor.page.wait_for_function("() => document.getElementById('seat-second').value === 'easy'")
    click_target(visitor, 0)
    visitor.wait("4/4")


def test_pieces_are_shown_beside_the_moves_that_give_them(visitor: Visitor) -> None:
    visitor.open(game="quarto", board="4x4")
    assert "choose one to give" in visitor.page.inner_text("#board")
    row = visitor.page.locator("#moves li").first
    assert row.locator(".name svg").count() == 1
    assert row.locator("button").get_attribute("title") == "gives red short hollow round"


def test_the_editor_says_what_is_impossible(visitor: Visitor) -> None:
    visitor.may_fail = True
    visitor.open(board="4x4")
    visitor.page.click("#edit")
    visitor.page.wait_for_selector("#editor[open]")
    visitor.page.click('[data-cell="1,1"]')
    visitor.page.wait_for_function(
        "() => document.getElementById('fault').innerText.includes('floats')"
    )
    assert visitor.page.is_disabled("#done")
    visitor.page.click('[data-cell="1,0"]')
    visitor.page.wait_for_function(
        "() => document.getElementById('fault').innerText.includes('counts')"
    )
    visitor.page.click('#palette button[aria-label="a disc of O"]')
    visitor.page.click('[data-cell="1,1"]')
    visitor.page.wait_for_function(
        "() => document.getElementById('fault').innerText.includes('possible.')"
    )
    visitor.page.click("#done")
    visitor.page.wait_for_function("() => location.search.includes('from=')")
    visitor.page.wait_for_selector("#board .chip")
    visitor.page.keyboard.press("2")
    visitor.wait("1/1")


@pytest.mark.parametrize("board", BOARDS, ids=IDS)
def test_every_game_is_set_up(board: dict[str, str], visitor: Visitor) -> None:
    """Cleared, one thing put by keyboard; then what the board shows is what was set up."""
    visitor.may_fail = True  # a single piece of some games is impossible, and the page says why
    visitor.open(**board)
    page = visitor.page
    page.click("#edit")
    page.wait_for_selector("#editor[open]")
    page.click("#clear")
    page.wait_for_selector("#done:not([disabled])")
    page.focus('[data-cell="0,1"]')
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.locator("#cells svg").count() == 1
    page.wait_for_function("() => document.getElementById('fault').innerText !== ''")
    if board["game"] == "quarto":  # who placed it has given another one
        page.click('#extra button[aria-label="blue short hollow round"]')
    page.wait_for_selector("#done:not([disabled])")
    page.click("#done")
    page.wait_for_function("() => location.search.includes('from=')")
    page.wait_for_selector("#board .mark")


def test_a_slow_search_is_called_off(visitor: Visitor) -> None:
    visitor.open(board="8x7")
    visitor.page.wait_for_function(
        "() => document.getElementById('source').innerText.includes('nodes')"
    )
    # Its distances need a search, and this tab has one at a time: the first was called off.
    visitor.open(board="5x4", moves="443")
    visitor.page.wait_for_selector('#board .chip.W text:text-is("W 17")')


def test_a_phone_shows_everything(phone: Visitor) -> None:
    phone.open(board="5x4", moves="443")
    phone.page.wait_for_selector('#board .chip.W text:text-is("W 17")')
    wide = phone.page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390
    box = phone.page.locator("#board svg").bounding_box()
    assert box["width"] > 300
    spot = phone.page.locator('#board .target[data-move="2"] .ghost').bounding_box()
    phone.page.touchscreen.tap(spot["x"] + spot["width"] / 2, spot["y"] + spot["height"] / 2)
    phone.wait("4/4")
    back = phone.page.evaluate("getComputedStyle(document.body).backgroundColor")
    dark = phone.page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert (sum(int(n) for n in re.findall(r"\d+", back)[:3]) < 200) == dark
