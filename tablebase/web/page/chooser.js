// The chooser of game, board and options, and the two seats.

import { ask } from "./api.js";
import { field, find, make } from "./dom.js";
import { HUMAN, boardFields } from "./state.js";

const KINDS = { level: "Levels", method: "Ways to play" };

export class Chooser {
  /** `begin(board)` starts a game, `seat(seats)` changes who plays. */
  constructor(games, begin, seat) {
    this.games = games;
    this.begin = begin;
    this.abouts = new Map(); // of players, by name
    this.sizes = new Map(); // that tables have, by game
    find("game").replaceChildren(
      ...games.map(({ name, title }) => make("option", { value: name }, title)),
    );
    find("game").addEventListener("change", () => this.#choose(find("game").value));
    find("chooser").addEventListener("submit", (event) => {
      event.preventDefault();
      begin(this.#chosen());
    });
    for (const side of ["first", "second"]) {
      find(`seat-${side}`).addEventListener("change", () => {
        seat({ first: find("seat-first").value, second: find("seat-second").value });
      });
    }
    this.#offerSizes();
  }

  /** Boards that have a table are offered: their values are there at once. */
  async #offerSizes() {
    const { tables } = await ask("tables");
    for (const { game, board } of tables) {
      this.sizes.set(game, new Set([...(this.sizes.get(game) || []), board]));
    }
    this.#listSizes(this.games.find((one) => one.name === find("game").value));
  }

  #listSizes(game) {
    const sizes = new Set([...(this.sizes.get(game.name) || []), game.usual]);
    find("sizes").replaceChildren(...[...sizes].map((size) => make("option", { value: size })));
  }

  /** Start a new game of what the fields say. */
  again() {
    return this.begin(this.#chosen());
  }

  /** Another game: its usual board, at once. */
  #choose(name) {
    const game = this.games.find((one) => one.name === name);
    this.#fields(game, game.usual, {});
    this.begin(this.#chosen());
  }

  #fields(game, size, options) {
    find("game").value = game.name;
    find("about").textContent = aboutGame(game, options);
    find("size").value = size;
    find("size").placeholder = game.usual;
    find("size").parentElement.title = game.size_order.toLowerCase().replace("x", " × ");
    this.#listSizes(game);
    find("options").replaceChildren(...game.options.map((option) => field(option, options[option.name])));
  }

  /** Say why a board is hardly a game, and offer one that is. */
  #offer(game, preset) {
    find("preset").classList.toggle("hidden", !preset);
    if (!preset) return;
    const [why, play] = find("preset").children;
    const options = Object.entries(preset.options).map(([name, value]) => `${name} ${value}`);
    why.textContent = `${preset.why}.`;
    play.textContent = ["Play", preset.size, ...options].join(" ");
    play.onclick = () => {
      this.#fields(game, preset.size, preset.options);
      this.begin(this.#chosen());
    };
  }

  #chosen() {
    const inputs = find("options").querySelectorAll("input, select");
    const options = Object.fromEntries([...inputs].map((one) => [one.name, one.value || one.placeholder]));
    return { game: find("game").value, board: find("size").value || find("size").placeholder, options };
  }

  /** What a player does, in a few words. */
  about(name) {
    return this.abouts.get(name) || "";
  }

  /** Show the board and the seats of a state. */
  async show(state, scene) {
    const game = this.games.find((one) => one.name === state.game);
    this.#fields(game, state.board, state.options);
    for (const [number, side] of ["first", "second"].entries()) {
      find(`name-${side}`).textContent = scene.players[number];
    }
    const key = JSON.stringify(boardFields(state));
    if (this.key !== key) {
      this.key = key;
      const { seats, preset } = await ask("palette", boardFields(state));
      this.#offer(game, preset);
      this.abouts = new Map(seats.map(({ name, about }) => [name, about]));
      for (const side of ["first", "second"]) find(`seat-${side}`).replaceChildren(...seatOptions(seats));
    }
    for (const side of ["first", "second"]) {
      const select = find(`seat-${side}`);
      const name = state.seats[side];
      if (![...select.options].some((one) => one.value === name)) {
        select.append(make("option", { value: name }, name));
      }
      select.value = name;
      select.title = this.about(name);
    }
  }
}

// The rules in a line; letters that stand for an option become its value.
function aboutGame(game, options) {
  let text = game.about[0].toUpperCase() + game.about.slice(1) + ".";
  for (const { name, metavar, default: usual } of game.options) {
    if (/^[A-Z]+$/.test(metavar)) text = text.replace(new RegExp(`\\b${metavar}\\b`, "g"), options[name] ?? usual);
  }
  return text;
}

function seatOptions(seats) {
  const groups = Object.entries(KINDS).map(([kind, label]) =>
    make(
      "optgroup", { label },
      ...seats
        .filter((seat) => seat.kind === kind)
        .map(({ name, about }) => make("option", { value: name, title: about }, name)),
    ));
  return [make("option", { value: HUMAN }, "human"), ...groups];
}
