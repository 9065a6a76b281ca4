"""The page of tables in a real browser: what is there, plans, builds, their token."""

from typing import Any

import pytest
from web_cases import Visitor

pytestmark = pytest.mark.browser


def test_a_build_is_paused_and_resumed(visitor: Visitor) -> None:
    visitor.open("/tables")
    visitor.page.fill("#size", "6x5")  # seconds of work: still at it when somebody clicks
    visitor.page.click("#solve button")
    visitor.page.wait_for_selector("#begin:not(.hidden)")
    visitor.page.fill("#token", visitor.service.token)
    visitor.page.click("#begin button")
    work = '.work:has-text("Connect Four 6x5")'
    visitor.page.click(f'{work}[data-stage="building"] button:text-is("Pause")')
    visitor.page.click(f'{work}[data-stage="paused"] button:text-is("Resume")')
    visitor.page.click(f'{work}[data-stage="building"] button:text-is("Pause")')
    visitor.page.wait_for_selector(f'{work}[data-stage="paused"]')


def test_the_tables_are_shown_and_a_board_is_solved(visitor: Visitor) -> None:
    visitor.open("/tables")
    assert visitor.page.locator(".table").count() >= 6
    visitor.page.select_option("#game", "mnk")
    visitor.page.fill("#size", "4x3")
    visitor.page.click("#solve button")
    visitor.page.wait_for_selector("#begin:not(.hidden)")
    assert "positions" in visitor.page.inner_text("#plan")
    visitor.page.fill("#token", visitor.service.token)
    visitor.page.click("#begin button")
    visitor.page.wait_for_selector('.work[data-stage="built"]', timeout=120_000)
    visitor.page.click('.work[data-stage="built"] a')
    visitor.page.wait_for_selector("#board .chip")
    assert "by table" in visitor.page.inner_text("#verdict")


def test_a_plan_that_comes_too_late_is_not_shown(visitor: Visitor) -> None:
    visitor.open("/tables")
    held: list[Any] = []
    visitor.page.route("**/api/v1/plan?*board=5x5*", lambda route: held.append(route))
    for size in ("5x5", "4x4"):
        visitor.page.fill("#size", size)
        visitor.page.click("#solve button")
    visitor.page.wait_for_selector("#begin:not(.hidden)")
    plan = visitor.page.inner_text("#plan")
    with visitor.page.expect_response("**/api/v1/plan?*board=5x5*"):
        held[0].continue_()
    visitor.page.evaluate("() => new Promise((done) => setTimeout(done, 100))")
    assert visitor.page.inner_text("#plan") == plan
    assert visitor.page.is_visible("#begin")


def test_a_build_without_its_token_says_what_is_missing(visitor: Visitor) -> None:
    visitor.may_fail = True
    visitor.open("/tables")
    visitor.page.fill("#size", "4x4")
    visitor.page.click("#solve button")
    visitor.page.click("#begin:not(.hidden) button")
    visitor.page.wait_for_selector('#fault:has-text("not the token that tablebase serve printed")')
