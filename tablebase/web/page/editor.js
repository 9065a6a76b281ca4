// The editor: puts any symbol on any cell and says at once what is impossible about the position.

import { ask, wasCalledOff } from "./api.js";
import { find, make, parseSvg } from "./dom.js";
import { boardFields } from "./state.js";

const EMPTY = ".";
const FEW = 4; // symbols that have room for their names
const WAYS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

export class Editor {
  /** `use(grid)` gets the grid of the position that is set up. */
  constructor(use) {
    this.use = use;
    this.dialog = find("editor");
    find("clear").addEventListener("click", () => this.#clear());
    find("cancel").addEventListener("click", () => this.dialog.close());
    find("done").addEventListener("click", () => this.#done());
    find("cells").addEventListener("keydown", (event) => this.#key(event));
  }

  /** Begin with the position that is shown. */
  async open(state, grid) {
    this.fields = boardFields(state);
    this.palette = await ask("palette", this.fields);
    this.symbols = new Map(this.palette.cells.map((symbol) => [symbol.text, symbol]));
    const [cells, extra = ""] = grid.split(",");
    this.rows = cells.split("/").map((row) => [...row]);
    this.extra = extra;
    this.symbol = this.palette.cells[0].text;
    this.#drawPalette();
    this.#drawCells();
    this.#drawExtra();
    this.dialog.showModal();
    this.#check();
  }

  #choices(symbols, now, choose) {
    const named = symbols.length <= FEW;
    return symbols.map(({ text, name, icon }) =>
      make(
        "button",
        {
          type: "button",
          role: "radio",
          class: named || !icon ? null : "bare",
          "aria-checked": String(text === now),
          "aria-label": name,
          title: name,
          onclick: () => choose(text),
        },
        icon ? make("i", { class: "icon" }, parseSvg(icon)) : null,
        named || !icon ? name : null,
      ));
  }

  #drawPalette() {
    const symbols = [...this.palette.cells, { text: EMPTY, name: "empty" }];
    find("palette").classList.toggle("many", symbols.length > FEW);
    find("palette").replaceChildren(...this.#choices(symbols, this.symbol, (text) => this.#take(text)));
  }

  #take(symbol) {
    this.symbol = symbol;
    this.#drawPalette();
  }

  #drawExtra() {
    const { extra, extra_name: name } = this.palette;
    if (!extra.length) {
      find("extra").replaceChildren();
      return;
    }
    const symbols = name === "in hand" ? [{ text: "", name: "nothing" }, ...extra] : extra;
    const buttons = this.#choices(symbols, this.extra, (text) => {
      this.extra = text;
      this.#drawExtra();
      this.#check();
    });
    find("extra").replaceChildren(
      make("p", { class: "quiet" }, name[0].toUpperCase() + name.slice(1)),
      make("div", { class: `palette ${symbols.length > FEW ? "many" : ""}`, role: "radiogroup", "aria-label": name }, ...buttons),
    );
  }

  #drawCells() {
    const grid = find("cells");
    const { cols, rows: height, falls } = this.palette;
    grid.classList.toggle("falls", falls);
    grid.style.gridTemplateColumns = `repeat(${cols}, auto)`;
    const rows = this.rows.map((row, r) => {
      const cells = row.map((text, c) => {
        const symbol = this.symbols.get(text);
        return make(
          "button",
          {
            type: "button",
            "aria-label": `column ${c + 1}, row ${height - r}: ${symbol ? symbol.name : "empty"}`,
            "data-cell": `${c},${height - 1 - r}`,
            onclick: () => this.#put(r, c),
          },
          symbol?.icon ? parseSvg(symbol.icon) : symbol ? text : "",
        );
      });
      return make("div", {}, ...cells);
    });
    grid.replaceChildren(...rows);
  }

  #put(r, c) {
    const again = this.rows[r][c] === this.symbol;
    this.rows[r][c] = again ? EMPTY : this.symbol;
    this.#drawCells();
    this.#focus(r, c);
    this.#check();
  }

  #focus(r, c) {
    find("cells").querySelectorAll("button")[r * this.palette.cols + c]?.focus();
  }

  // Arrows go from cell to cell; the letter of a symbol takes it.
  #key(event) {
    const [c, up] = (event.target.dataset.cell || "").split(",").map(Number);
    const way = WAYS[event.key];
    const symbol = [...this.symbols.keys(), EMPTY].find((text) => text.toLowerCase() === event.key.toLowerCase());
    if (way) {
      const r = this.palette.rows - 1 - up + way[0];
      const inside = r >= 0 && r < this.palette.rows && c + way[1] >= 0 && c + way[1] < this.palette.cols;
      if (inside) this.#focus(r, c + way[1]);
      event.preventDefault();
    } else if (symbol) this.#take(symbol);
  }

  #clear() {
    this.rows = this.rows.map((row) => row.map(() => EMPTY));
    if (this.palette.extra_name === "in hand") this.extra = "";
    this.#drawCells();
    this.#drawExtra();
    this.#check();
  }

  get grid() {
    const cells = this.rows.map((row) => row.join("")).join("/");
    return this.extra ? `${cells},${this.extra}` : cells;
  }

  async #check() {
    this.asking?.abort();
    this.asking = new AbortController();
    const fault = find("fault");
    try {
      await ask("scene", { ...this.fields, from: this.grid }, this.asking.signal);
      fault.textContent = "This position is possible.";
      fault.classList.add("fine");
      find("done").disabled = false;
    } catch (error) {
      if (wasCalledOff(error)) return;
      fault.textContent = `Impossible: ${error.message}`;
      fault.classList.remove("fine");
      find("done").disabled = true;
    }
  }

  #done() {
    this.dialog.close();
    this.use(this.grid);
  }
}
