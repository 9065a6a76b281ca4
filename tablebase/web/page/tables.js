// The tables that are here, ply by ply; and the form that plans and builds another.

import { ask, tell } from "./api.js";
import { chip, draw, field, find, make } from "./dom.js";
import { count, letterOf, size } from "./words.js";

const LOOK_SECONDS = 1;
const NO_TOKEN = 401;

function link(table, position = "") {
  const fields = new URLSearchParams({ game: table.game, board: table.board, ...table.options });
  if (position) fields.set("moves", position);
  return `/?${fields}`;
}

// `Connect Four 5x4`; options only where they are not the usual ones.
function title(table) {
  const game = games.find((one) => one.name === table.game);
  const unusual = game.options
    .map(({ name, default: usual }) => [name, table.options[name] ?? usual, usual])
    .filter(([, text, usual]) => text !== usual)
    .map(([name, text]) => `${name} ${text}`);
  return [game.title, table.board, ...unusual].join(" ");
}

// One bar a ply: the shares of won, drawn and lost positions for the side to move.
function bar({ ply, positions, win, draw: drawn, loss }) {
  let x = 0;
  const parts = [["W", win], ["D", drawn], ["L", loss]].map(([letter, number]) => {
    const width = positions ? (100 * number) / positions : 0;
    x += width;
    return draw("rect", { class: letter, x: x - width, y: 0, width, height: 10 });
  });
  const says = `ply ${ply}: ${count(win)} won, ${count(drawn)} drawn, ${count(loss)} lost`;
  const svg = draw("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", role: "img", "aria-label": says }, draw("title", {}, says), ...parts);
  return make("div", { class: "row" }, make("span", {}, String(ply)), svg, make("span", {}, count(positions)));
}

function numbers(plies) {
  const heads = ["ply", "positions", "won", "drawn", "lost", "ended"];
  const rows = plies.map((one) => make("tr", {}, ...[one.ply, one.positions, one.win, one.draw, one.loss, one.terminal].map((n) => make("td", {}, count(n)))));
  const head = make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)));
  return make("details", {}, make("summary", {}, "Numbers"), make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)));
}

function card(table) {
  const facts = [
    ["positions", `${table.positions === null ? "not counted" : count(table.positions)}, plies ${table.first_ply} to ${table.last_ply}`],
    ["size", size(table.size)],
    ["file", table.file],
    ["digest", table.digest.slice(0, 16) + "…"],
  ];
  if (table.root) facts.unshift(["from", table.root]);
  const whose = table.root ? " for the side to move" : " for the first player";
  const value = make("span", {}, chip(letterOf(table.value), table.value.toLowerCase()), whose);
  const list = [["value", value], ...facts].flatMap(([name, text]) => [make("dt", {}, name), make("dd", { title: name === "digest" ? table.digest : null }, text)]);
  return make(
    "article",
    { class: "card table" },
    make("h3", {}, make("a", { href: link(table, table.root) }, title(table))),
    make("dl", {}, ...list),
    make("div", { class: "bars" }, ...table.plies.map(bar)),
    ...(table.plies.length ? [numbers(table.plies)] : []),
  );
}

async function showTables() {
  const { tables, errors } = await ask("tables");
  const broken = errors.map((one) => make("article", { class: "card table broken" }, make("h3", {}, one.file), make("p", {}, one.error)));
  find("tables").replaceChildren(...tables.map(card), ...broken);
  find("none").classList.toggle("hidden", tables.length + errors.length > 0);
}

// Solve my board.

class Form {
  constructor(games) {
    this.games = games;
    this.stages = new Map();
    find("game").replaceChildren(...games.map(({ name, title: words }) => make("option", { value: name }, words)));
    find("game").addEventListener("change", () => this.#options());
    find("solve").addEventListener("submit", (event) => this.#submit(event, () => this.plan()));
    find("begin").addEventListener("submit", (event) => this.#submit(event, () => this.build(this.planned)));
    find("token").value = sessionStorage.getItem("token") || "";
    this.#options();
  }

  #options() {
    const game = this.games.find((one) => one.name === find("game").value);
    find("size").value = game.usual;
    find("size").title = game.size_order;
    find("options").replaceChildren(...game.options.map((option) => field(option)));
  }

  async #submit(event, act) {
    event.preventDefault();
    find("fault").textContent = "";
    try {
      await act();
    } catch (error) {
      find("fault").textContent = error.message;
    }
  }

  async plan() {
    const inputs = [...find("options").querySelectorAll("input, select")];
    const board = { game: find("game").value, board: find("size").value };
    for (const input of inputs) board[input.name] = input.value;
    find("plan").textContent = "Planning…";
    find("begin").classList.add("hidden");
    this.planned = board; // an earlier plan that is still on its way comes too late
    try {
      const plan = await ask("plan", board);
      if (this.planned !== board) return;
      find("plan").textContent = plan.fits ? `It takes ${plan.summary}.` : `It does not fit: ${plan.obstacle}`;
      find("begin").classList.toggle("hidden", !plan.fits);
    } catch (error) {
      if (this.planned !== board) return;
      find("plan").textContent = "";
      throw error;
    }
  }

  async #order(path, board) {
    const token = find("token").value.trim();
    try {
      await tell(path, board, token);
    } catch (error) {
      if (error.status === NO_TOKEN) throw new Error("This is not the token that tablebase serve printed at its start.");
      throw error;
    }
    sessionStorage.setItem("token", token);
    await this.look();
  }

  build(board) {
    return this.#order("build", board);
  }

  async look() {
    clearTimeout(this.timer);
    const { works } = await ask("builds");
    find("works").replaceChildren(...works.map((work) => this.#row(work)));
    if (works.some((work) => work.stage === "building")) {
      this.timer = setTimeout(() => this.look(), 1000 * LOOK_SECONDS);
    }
    const finished = works.filter((work) => work.stage === "built" && this.stages.get(work.name) !== "built");
    for (const work of works) this.stages.set(work.name, work.stage);
    if (finished.length) await showTables();
  }

  #row(work) {
    const board = { game: work.game, board: work.board, ...work.options };
    const { done = 0, total = 0, phase = "" } = work.progress || {};
    const bars = total ? { value: done, max: total } : {};
    const again = (path, words) => make("button", { type: "button", onclick: (event) => this.#submit(event, () => this.#order(path, board)) }, words);
    const parts = {
      building: () => [make("progress", { ...bars, "aria-label": "how far the build is" }), make("span", { class: "quiet" }, total ? `${phase}, ${count(done)} of ${count(total)}` : "starting"), again("pause", "Pause")],
      paused: () => [make("span", { class: "quiet" }, `paused after ${count(done)} positions; nothing is lost`), again("build", "Resume")],
      built: () => [make("span", { class: "quiet" }, `built in ${work.built.seconds.toFixed(1)} s`), make("a", { href: link(work) }, "Explore it")],
      failed: () => [make("span", { class: "fault" }, work.error.error), again("build", "Try again")],
    }[work.stage]();
    return make("div", { class: "work", "data-stage": work.stage }, make("strong", {}, title(work)), ...parts);
  }
}

const { games, builds } = await ask("games");
if (builds) {
  const form = new Form(games);
  await form.look();
} else {
  find("solve").closest("section").remove(); // several workers: none of them builds
}
await showTables();
document.body.dataset.ready = "yes";
