// Beside the board: the moves with their values, the game so far, and the graph of its values.

import { chip, draw, find, iconOf, make } from "./dom.js";
import { bestFirst, chipText, letterOf, negated, score, valueWords } from "./words.js";

const MOST_LISTED = 120;
const GRAPH = { width: 340, height: 84, right: 8, top: 10, bottom: 10 };
const LETTER = 6; // about the width of one, in the graph

/** The list of moves, best first; `choose(move)` plays one. */
export function listMoves({ spots, stock }, rated, { shown, best, open, choose }) {
  const pieces = new Map(stock.map((piece) => [piece.piece, piece]));
  const known = spots.map(({ move, gives }) => ({ move, gift: pieces.get(gives), ...rated.get(move) }));
  if (shown) known.sort(bestFirst);
  const rows = known.slice(0, MOST_LISTED).map((move) => {
    const value = shown && move.value ? move.value : null;
    const words = value ? valueWords(value, move.plies) : shown ? "…" : "";
    const button = make(
      "button",
      { type: "button", disabled: !open, title: move.gift ? `gives ${move.gift.name}` : null, onclick: () => choose(move.move) },
      make("span", { class: "name" }, move.move, move.gift ? iconOf(move.gift.icon) : null),
      make("span", { class: "star", title: "keeps the value" }, value && value === best ? "★" : ""),
      make("span", { class: "words" }, words),
      value ? chip(letterOf(value), chipText(value, move.plies)) : chip("none", "?"),
    );
    return make("li", { class: value && value === best ? "best" : "" }, button);
  });
  if (known.length > MOST_LISTED) {
    rows.push(make("li", { class: "quiet" }, `and ${known.length - MOST_LISTED} more`));
  }
  find("moves").replaceChildren(...rows);
}

/** The game as a list of moves, each with its player's stone; `go(ply)` shows the position after it. */
export function listGame(state, judged, icons, go) {
  const start = make(
    "li", {},
    make("button", { type: "button", "aria-current": state.at === 0 ? "step" : null, onclick: () => go(0) }, state.from ? "set up" : "start"),
  );
  const rows = state.moves.map((move, number) => {
    const { value, blunder } = judged[number];
    const now = state.at === number + 1;
    const says = value ? `, ${valueWords(value)} for its player${blunder ? ", gives value away" : ""}` : "";
    const button = make(
      "button",
      {
        type: "button",
        class: `${blunder ? "blunder " : ""}${number >= state.at ? "future" : ""}`,
        "aria-current": now ? "step" : null,
        "aria-label": `${number + 1}: ${move}${says}`,
        onclick: () => go(number + 1),
      },
      icons(number) ? iconOf(icons(number)) : null,
      make("span", {}, move),
      value ? make("span", { class: "letter" }, letterOf(value) + (blunder ? "?" : "")) : null,
    );
    return make("li", {}, button);
  });
  find("history").replaceChildren(start, ...rows);
  const now = find("history").querySelector("[aria-current]");
  find("history").scrollTop = now.offsetTop - find("history").offsetTop - 60;
}

/** What is known of every move made: its value for who made it, and whether it gave value away. */
export function judge(known) {
  return known.slice(1).map((after, number) => {
    const before = known[number];
    if (!after?.value) return { value: null, blunder: false };
    const value = negated(after.value);
    const blunder = Boolean(before?.value) && score(value) < score(before.value);
    return { value, blunder };
  });
}

/** The values of the game, for the first player, as a small graph. */
export function drawGraph(known, { sides, players, at }) {
  if (known.length < 2) {
    find("graph").replaceChildren();
    return;
  }
  const { width, height, right, top, bottom } = GRAPH;
  const words = [`${players[0]} wins`, "draw", `${players[1]} wins`];
  const left = 16 + LETTER * Math.max(...words.map((text) => text.length));
  const steps = Math.max(known.length - 1, 1);
  const x = (ply) => left + (ply * (width - left - right)) / steps;
  const y = (worth) => top + ((1 - worth) * (height - top - bottom)) / 2;
  const parts = [1, 0, -1].map((worth) => draw("line", { class: "axis", x1: left, x2: width - right, y1: y(worth), y2: y(worth) }));
  for (const [number, text] of words.entries()) {
    parts.push(draw("text", { x: left - 8, y: y(1 - number) + 4, "text-anchor": "end" }, text));
  }
  parts.push(draw("line", { class: "now", x1: x(at), x2: x(at), y1: top, y2: height - bottom }));
  const judged = judge(known);
  const points = known
    .map((one, ply) => ({ one, ply }))
    .filter(({ one }) => one?.value)
    .map(({ one, ply }) => {
      const worth = score(one.value) * (sides(ply) === "first" ? 1 : -1);
      return { ply, worth, blunder: ply > 0 && judged[ply - 1].blunder };
    });
  for (const [number, { ply, worth }] of points.entries()) {
    const before = points[number - 1]; // where a value is not known, the curve has a gap
    if (before?.ply === ply - 1) parts.push(draw("line", { class: "curve", x1: x(before.ply), y1: y(before.worth), x2: x(ply), y2: y(worth) }));
  }
  for (const { ply, worth, blunder } of points) {
    parts.push(draw("circle", { class: `point${blunder ? " blunder" : ""}`, cx: x(ply), cy: y(worth), r: blunder ? 5 : 3 }));
  }
  const blunders = points.filter((point) => point.blunder).map(({ ply }) => ply);
  const says = blunders.length ? `value given away by move ${blunders.join(", ")}` : "no value given away";
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Values of the game: ${says}` }, ...parts);
  find("graph").replaceChildren(svg);
}
