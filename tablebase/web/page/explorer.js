// The explorer: what is shown, who moves, what is asked. One state, kept in the address.

import { ask, listen, wasCalledOff } from "./api.js";
import { Board } from "./board.js";
import { Chooser } from "./chooser.js";
import { chip, find, iconOf, make } from "./dom.js";
import { Editor } from "./editor.js";
import * as files from "./files.js";
import { drawGraph, judge, listGame, listMoves } from "./side.js";
import { HUMAN, keyOf, positionFields, question, read, write } from "./state.js";
import { bestFirst, chipText, count, letterOf, valueWords } from "./words.js";

const PATIENCE = " Early positions of large boards are deep: play on, values come as the end comes nearer, or search on.";
const SOURCES = { table: "by table", search: "by search", both: "by table and search", rules: "by the rules" };

const FIRST_TIME = " The first time after an installation a game gets ready for up to a minute.";
const FIRST_WAIT = 4000; // milliseconds without a word before that is said

const TOO_LONG = 503;
const BUSY_WAIT = 1500; // milliseconds before a search is asked for again

function quiet(text) {
  return make("span", { class: "quiet" }, text);
}

// Say in a place why nothing comes, if nothing comes for a while; who hears something calls this off.
function excuse(place, words, asking) {
  const timer = setTimeout(() => {
    if (!asking.signal.aborted) find(place).textContent = words + FIRST_TIME;
  }, FIRST_WAIT);
  return () => clearTimeout(timer);
}

// Ask again while all searches are taken.
async function patiently(act) {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (error.kind !== "BusyError") throw error;
      await new Promise((done) => setTimeout(done, BUSY_WAIT));
    }
  }
}

class Explorer {
  constructor(games) {
    this.games = games;
    this.known = new Map(); // of positions: {value, plies, moves: Map}
    this.costs = new Map(); // of moves of this game: what computers took
    this.board = new Board(find("board"), (move) => this.play(move));
    this.chooser = new Chooser(games, (board) => this.begin(board), (seats) => this.seat(seats));
    this.editor = new Editor((grid) => this.begin({ ...this.state, from: grid }));
    this.#listen();
  }

  // Changing the state.

  async load(address) {
    const state = read(address, this.games, await ask("scene", question(address)));
    history.replaceState(state, "", write(state, this.games));
    await this.show(state, false);
  }

  go(change, { moved = false, quiet = false } = {}) {
    const state = { ...this.state, ...change };
    const address = write(state, this.games);
    if (quiet) history.replaceState(state, "", address);
    else history.pushState(state, "", address);
    return this.show(state, moved);
  }

  async begin({ game, board, options, from = "" }) {
    this.stopReplay();
    try {
      await ask("scene", { game, board, ...options, from }); // nothing changes if there is no such board
    } catch (error) {
      this.#say(error);
      return;
    }
    this.costs = new Map();
    this.halted = false;
    find("thought").textContent = "";
    await this.go({ game, board, options, from, moves: [], at: 0 });
  }

  play(move, cost = null) {
    const at = this.state.at;
    const same = this.state.moves[at] === move;
    const moves = same ? this.state.moves : [...this.state.moves.slice(0, at), move];
    if (!same) for (const number of this.costs.keys()) if (number >= at) this.costs.delete(number);
    if (cost) this.costs.set(at, cost);
    return this.go({ moves, at: at + 1 }, { moved: true });
  }

  to(ply) {
    const at = Math.min(Math.max(ply, 0), this.state.moves.length);
    if (at === this.state.at) return Promise.resolve();
    return this.go({ at }, { moved: at === this.state.at + 1 });
  }

  seat(seats) {
    this.halted = false;
    const computers = [...new Set([seats.first, seats.second])].filter((name) => name !== HUMAN);
    find("thought").textContent = computers.map((name) => `${name}: ${this.chooser.about(name)}.`).join(" ");
    return this.go({ seats }, { quiet: true });
  }

  // Showing it.

  async show(state, moved) {
    const flipped = this.state?.flip !== state.flip;
    this.state = state;
    this.asking?.abort();
    const asking = (this.asking = new AbortController());
    find("said").textContent = "";
    try {
      const fields = { ...positionFields(state), flip: state.flip ? "on" : "" };
      const scene = await ask("scene", fields, asking.signal);
      if (asking.signal.aborted) return;
      this.scene = scene;
      this.chooser.show(state, scene);
      this.open = !scene.over && this.mover === HUMAN;
      this.board.show(scene, { open: this.open, moved: moved && !flipped });
      if (this.isPast) find("said").textContent = `Here ${this.mover} played ${state.moves[state.at]}.`;
      this.render();
      document.body.dataset.shown = `${state.at}/${state.moves.length}`;
      document.body.dataset.over = scene.over ? "yes" : "no";
      document.title = `${find("game").selectedOptions[0].text} ${state.board} · Explorer`;
      this.follow(asking); // not waited for: people can go on meanwhile
    } catch (error) {
      this.#say(error);
    }
  }

  #say(error) {
    if (!wasCalledOff(error)) find("said").textContent = error.message;
  }

  get mover() {
    return this.state.seats[this.scene.side_to_move];
  }

  /** Whether a computer moves next, unless it was told to wait. */
  get computerIsNext() {
    const last = this.state.at === this.state.moves.length;
    return !this.scene.over && this.mover !== HUMAN && last;
  }

  /** Whether the computer's turn here is over: nobody can move, only go on or back. */
  get isPast() {
    return !this.scene.over && this.mover !== HUMAN && this.state.at < this.state.moves.length;
  }

  get here() {
    return this.known.get(keyOf(this.state));
  }

  // After the board is there: the computer's move, or the values of this position.
  async follow(asking) {
    try {
      if (this.computerIsNext && !this.halted) {
        await this.think(asking);
        return;
      }
      await this.study(asking);
      if (this.here?.value) await this.fillGame(asking); // else those before are deeper still
    } catch (error) {
      this.#say(error);
    }
  }

  async think(asking) {
    const player = this.mover;
    find("thought").textContent = `${player} thinks…`;
    const pause = this.state.seats.first !== HUMAN && this.state.seats.second !== HUMAN;
    if (pause) await new Promise((done) => setTimeout(done, this.delay));
    if (asking.signal.aborted) return;
    const seed = Math.floor(Math.random() * 1e9);
    const enough = excuse("thought", `${player} thinks…`, asking);
    const fields = { ...positionFields(this.state), player, seed };
    const found = await patiently(() => ask("move", fields, asking.signal)).finally(enough);
    const nodes = found.nodes === null ? "" : `, ${count(found.nodes)} nodes`;
    find("thought").textContent = `${player} played ${found.move} in ${found.seconds.toFixed(2)} s${nodes}: ${found.remark}.`;
    await this.play(found.move, { seconds: found.seconds, nodes: found.nodes ?? undefined, remark: found.remark });
  }

  async study(asking) {
    const key = keyOf(this.state);
    if (this.known.get(key)?.whole) return;
    if (this.scene.over) {
      this.known.set(key, { value: this.scene.value, plies: 0, moves: new Map(), source: "rules", whole: true });
      this.render();
      return;
    }
    const found = this.known.get(key) || { moves: new Map() };
    found.fault = "";
    let busy = false;
    const enough = this.state.values ? excuse("source", "Searching…", asking) : () => {};
    await listen("position/events", positionFields(this.state), asking.signal, (name, content) => {
      enough();
      if (name === "move") this.#takeMove(found, content);
      if (name === "values" || name === "answer") this.#take(found, content);
      if (name === "answer") found.whole = true;
      this.known.set(key, found);
      if (asking.signal.aborted) return;
      if (name === "progress") this.#progress(content);
      if (name === "error") {
        busy = content.kind === "BusyError";
        found.fault = busy ? "" : content.error;
      }
      if (name !== "progress") this.render();
    }).finally(enough);
    if (!busy) return;
    find("source").textContent = "Others are searching; waiting for a turn…";
    await new Promise((done) => setTimeout(done, BUSY_WAIT));
    if (!asking.signal.aborted) await this.study(asking);
  }

  // One winning move is enough to know what a position is worth.
  #takeMove(found, move) {
    found.moves.set(move.move, move);
    if (move.value === "WIN" && !found.value) Object.assign(found, { value: "WIN", plies: null, source: "search" });
  }

  #take(found, { value, plies, source, moves = [] }) {
    Object.assign(found, { value, plies, source });
    for (const move of moves) {
      const plies = move.plies ?? found.moves.get(move.move)?.plies ?? null;
      found.moves.set(move.move, { ...move, plies });
    }
  }

  #progress({ nodes, seconds }) {
    if (!this.state.values) return;
    find("source").textContent = `searching: ${count(nodes)} nodes, ${seconds.toFixed(1)} s`;
  }

  // Values of the positions that were passed on the way, latest first, as far as they are found.
  async fillGame(asking) {
    for (let at = this.state.moves.length; at >= 0; at -= 1) {
      const key = keyOf(this.state, at);
      if (this.known.get(key)?.value) continue;
      const asked = ask("position", positionFields(this.state, at), asking.signal);
      const content = await asked.catch((error) => {
        if (error.status !== TOO_LONG) throw error;
        return null;
      });
      if (!content) return; // those before are deeper still
      const found = { moves: new Map() };
      this.#take(found, content);
      this.known.set(key, found);
      if (asking.signal.aborted) return;
      this.render();
    }
  }

  render() {
    const { state, scene, here, open } = this;
    const rated = here?.moves || new Map();
    const shown = state.values;
    this.board.rate(rated, shown);
    const best = here?.value; // the moves that keep it get a star
    listMoves(scene.picture, rated, { shown, best, open, choose: (move) => this.play(move) });
    const known = [...Array(state.moves.length + 1).keys()].map((at) => this.known.get(keyOf(state, at)));
    const judged = shown ? judge(known) : known.slice(1).map(() => ({ value: null }));
    const side = scene.side_to_move;
    const other = side === "first" ? "second" : "first";
    const sides = (ply) => ((ply - state.at) % 2 === 0 ? side : other); // who moves after so many
    listGame(state, judged, (ply) => scene.icons[sides(ply) === "first" ? 0 : 1], (ply) => this.to(ply));
    drawGraph(shown ? known : [], { sides, players: scene.players, at: state.at });
    this.#renderStatus(here, shown);
    this.#renderBars();
  }

  #renderStatus(here, shown) {
    const { scene } = this;
    const sides = ["first", "second"];
    for (const [number, side] of sides.entries()) {
      find(`icon-${side}`).replaceWith(Object.assign(iconOf(scene.icons[number], number + 1), { id: `icon-${side}` }));
    }
    const whose = sides.indexOf(scene.over ? scene.winner : scene.side_to_move);
    const icon = whose < 0 ? "" : iconOf(scene.icons[whose], whose + 1);
    const words = !scene.over ? `${scene.mover} to move` : whose < 0 ? "A draw" : `${scene.players[whose]} has won`;
    find("turn").replaceChildren(icon, words);
    const verdict = find("verdict");
    if (scene.over) verdict.replaceChildren(quiet(scene.message.replace("the game is over: ", "")));
    else if (!shown) verdict.replaceChildren();
    else if (!here?.value) verdict.replaceChildren(quiet("value not known yet"));
    else {
      const label = chip(letterOf(here.value), chipText(here.value, here.plies));
      verdict.replaceChildren(label, valueWords(here.value, here.plies), " ", quiet(SOURCES[here.source]));
    }
    find("rated").classList.toggle("hidden", scene.over);
    find("order").textContent = shown ? "Moves, best first" : "Moves";
    find("source").textContent = shown ? this.#sourceWords(here) : "Values are hidden.";
    find("again").classList.toggle("hidden", !here?.fault);
  }

  #sourceWords(here) {
    if (this.scene.over) return "";
    if (here?.whole) return `Values for ${this.scene.mover}, ${SOURCES[here.source]}.`;
    if (here?.fault) return `${here.fault[0].toUpperCase()}${here.fault.slice(1)}.${here.value ? "" : PATIENCE}`;
    if (this.computerIsNext && !this.halted) return "";
    return here?.value ? "Looking for distances…" : "Searching…";
  }

  #renderBars() {
    const { state } = this;
    find("first").disabled = find("undo").disabled = state.at === 0;
    find("last").disabled = find("redo").disabled = state.at === state.moves.length;
    find("play").disabled = !state.moves.length && !this.computerIsNext;
    find("play").textContent = this.replaying ? "Pause" : !this.computerIsNext ? "Replay" : this.halted ? "Go on" : "Pause";
    find("hint").disabled = !this.open;
    find("values").setAttribute("aria-pressed", String(state.values));
    find("flip").setAttribute("aria-pressed", String(state.flip));
  }

  hint() {
    const { here } = this;
    const found = [...(here?.moves.values() || [])].sort(bestFirst)[0];
    if (here?.value && found) {
      this.board.hint(found.move);
      find("said").textContent = `Hint: ${found.move}, ${valueWords(found.value, found.plies)}.`;
    } else {
      find("said").textContent = "The value is not known yet: wait for the search, or make a move.";
    }
  }

  // Replay.

  get delay() {
    return 1500 / Number(find("speed").value);
  }

  /** Replay, or pause it; where computers play on, let them wait, or go on. */
  async replay() {
    if (this.replaying) {
      this.stopReplay();
      return;
    }
    if (this.computerIsNext) {
      this.halted = !this.halted;
      find("thought").textContent = "";
      await this.show(this.state, false);
      return;
    }
    const turn = (this.replaying = {});
    this.#renderBars();
    if (this.state.at === this.state.moves.length) await this.to(0);
    while (this.replaying === turn && this.state.at < this.state.moves.length) {
      await new Promise((done) => setTimeout(done, this.delay));
      if (this.replaying !== turn) return;
      this.to(this.state.at + 1);
    }
    if (this.replaying === turn) this.stopReplay();
  }

  stopReplay() {
    this.replaying = null;
    if (this.scene) this.#renderBars();
  }

  // What people do.

  #listen() {
    const click = (id, act) => find(id).addEventListener("click", act);
    click("first", () => this.#by(() => this.to(0)));
    click("undo", () => this.#by(() => this.back()));
    click("redo", () => this.#by(() => this.to(this.state.at + 1)));
    click("last", () => this.#by(() => this.to(this.state.moves.length)));
    click("play", () => this.replay());
    click("hint", () => this.hint());
    click("values", () => this.go({ values: !this.state.values }, { quiet: true }));
    click("flip", () => this.go({ flip: !this.state.flip }, { quiet: true }));
    click("edit", () => this.editor.open(this.state, this.scene.grid));
    click("again", () => this.show(this.state, false));
    click("help", () => find("keys").showModal());
    click("link", () => files.copyLink());
    click("save", () => this.#try(() => files.save(this.state, this.costs)));
    click("svg", () => files.saveSvg(this.board, this.state));
    click("png", () => this.#try(() => files.savePng(this.board, this.state)));
    click("load", () => find("file").click());
    find("file").addEventListener("change", (event) => this.#try(() => this.#open(event.target)));
    find("typed").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#try(() => this.#type(find("word")));
    });
    find("board").addEventListener("half", () => {
      this.board.rate(this.here?.moves || new Map(), this.state.values);
      find("said").textContent = "Now choose the piece to give.";
    });
    document.addEventListener("keydown", (event) => this.#key(event));
    window.addEventListener("popstate", (event) => {
      this.stopReplay();
      if (event.state) this.show(event.state, false);
      else this.load(location);
    });
  }

  #by(act) {
    this.stopReplay();
    act();
  }

  /** One move back; against a computer to the human's last turn, also after the end. */
  back() {
    const { seats, at } = this.state;
    const alone = (seats.first === HUMAN) !== (seats.second === HUMAN);
    return this.to(at - (alone && this.mover === HUMAN ? 2 : 1));
  }

  async #try(act) {
    const note = find("note");
    note.textContent = "";
    try {
      await act();
    } catch (error) {
      note.textContent = error.message;
    }
  }

  async #open(input) {
    const [file] = input.files;
    input.value = "";
    if (!file) return;
    const game = await files.load(file, this.state);
    this.costs = new Map(game.costs.map((cost, number) => [number, cost]));
    const [first, second] = game.seats;
    await this.go({ ...game, at: game.moves.length, seats: { first, second } });
    find("note").textContent = `Loaded ${file.name}: ${game.moves.length} moves. ${game.result}`;
  }

  async #type(input) {
    const word = input.value.trim();
    if (!word || !this.open) return;
    const moves = [...this.state.moves.slice(0, this.state.at), word].join(" ");
    const after = await ask("scene", { ...positionFields(this.state), moves });
    input.value = "";
    await this.play(after.history.at(-1));
  }

  #key(event) {
    if (event.target.closest("input, select, dialog, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = {
      Backspace: () => this.back(),
      ArrowLeft: () => this.to(this.state.at - 1),
      ArrowRight: () => this.to(this.state.at + 1),
      Home: () => this.to(0),
      End: () => this.to(this.state.moves.length),
    }[event.key];
    if (act) {
      event.preventDefault();
      this.#by(act);
      return;
    }
    const spot = this.open && this.scene.picture.spots.find((one) => one.move === event.key);
    const press = { h: "hint", v: "values", f: "flip", e: "edit", r: "play", "?": "help" }[event.key];
    if (spot) this.play(spot.move); // moves of one letter: the columns of Connect Four
    else if (press) find(press).click();
    else if (event.key === "n") this.chooser.again();
    else if (event.key === "m") {
      event.preventDefault();
      find("word").focus();
    }
  }
}

const { games } = await ask("games");
const token = new URLSearchParams(location.hash.slice(1)).get("token");
if (token) {
  sessionStorage.setItem("token", token);
  history.replaceState(null, "", location.pathname + location.search);
}
const explorer = new Explorer(games);
try {
  await explorer.load(location);
} catch (error) {
  history.replaceState(null, "", "/");
  await explorer.load(location);
  find("said").textContent = `This link leads nowhere: ${error.message}`;
}
document.body.dataset.ready = "yes";
