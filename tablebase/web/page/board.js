// The board: the service's picture, and over it what can be clicked and what that is worth.
// It knows boxes and moves, no game: a move may cover a cell, two, or none, and may give a piece.

import { draw, parseSvg } from "./dom.js";
import { bestFirst, chipText, letterOf, valueWords } from "./words.js";

const GROUND = { W: "#00725c", D: "#5b6675", L: "#a8326b" };

const middle = ({ box: [x, y, w, h] }) => [x + w / 2, y + h / 2];
const apart = ([x, y], [u, v]) => Math.hypot(x - u, y - v);

export class Board {
  /** `play(move)` is called with the move that somebody chose. */
  constructor(place, play) {
    this.place = place;
    this.play = play;
    this.targets = [];
    this.rated = new Map();
    this.chosen = null; // the box of a cell whose gift is still to be chosen
    this.byKeyboard = false; // how the last move was made
    place.addEventListener("pointermove", (event) => this.#hover(event));
    place.addEventListener("pointerleave", () => this.#near(null));
    place.addEventListener("click", (event) => this.#click(event));
    place.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Show a scene; `open` says whether somebody may move here. */
  show(scene, { open, moved }) {
    const hadFocus = this.place.contains(document.activeElement);
    const focused = this.targets.find((one) => one.group === document.activeElement);
    this.scene = scene;
    this.open = open;
    this.chosen = null;
    this.rated = new Map();
    this.svg = parseSvg(scene.picture.svg);
    this.svg.removeAttribute("width");
    this.svg.removeAttribute("height");
    this.svg.setAttribute("role", "group");
    this.svg.setAttribute("aria-label", `Board, rows from the top: ${scene.grid.replaceAll("/", ", ")}`);
    if (moved && scene.picture.falls) this.#fall();
    this.layer = draw("g", {});
    this.chips = draw("g", {}); // above everything, so that no frame crosses a value
    this.preview = scene.picture.ghost ? parseSvg(scene.picture.ghost) : null; // what a move puts down
    this.preview?.setAttribute("class", "preview");
    this.svg.append(this.layer, this.chips);
    this.place.replaceChildren(this.svg);
    this.#layTargets();
    if (hadFocus) this.#focusNear(focused);
  }

  /** Values by move: {value, plies}. Shown where `shown`. */
  rate(rated, shown) {
    this.rated = rated;
    this.shown = shown;
    for (const target of this.targets) this.#label(target);
  }

  /** Point at a move. */
  hint(move) {
    for (const target of this.targets) {
      target.group.classList.toggle("hinted", target.moves.some((spot) => spot.move === move));
    }
  }

  // Who moves by keyboard goes on from the nearest move, best above; the mouse points by itself.
  #focusNear(before) {
    const [x, y] = before ? middle(before) : [0, 0];
    const away = (target) => apart(middle(target), [x, y]) + Math.abs(middle(target)[0] - x) / 10;
    const nearest = [...this.targets].sort((a, b) => away(a) - away(b))[0];
    (this.byKeyboard && nearest ? nearest.group : this.place).focus();
  }

  /** The picture by itself, with the values that are shown. */
  copy() {
    const copy = this.svg.cloneNode(true);
    for (const part of copy.querySelectorAll(".preview, .target")) part.remove();
    copy.setAttribute("width", this.scene.picture.width);
    copy.setAttribute("height", this.scene.picture.height);
    return new XMLSerializer().serializeToString(copy);
  }

  #fall() {
    const mark = this.svg.querySelector(".mark.last");
    if (!mark) return;
    const top = mark.querySelector("circle").cy.baseVal.value;
    mark.classList.add("falling");
    mark.style.setProperty("--fall", `${-top - 60}px`);
  }

  // One target a cell; below the board one a piece, once it is clear where the last one goes.
  #layTargets() {
    this.layer.replaceChildren();
    this.chips.replaceChildren();
    this.targets = [];
    if (!this.open) return;
    const { spots, stock } = this.scene.picture;
    const cells = new Map();
    for (const spot of spots.filter((one) => one.box)) {
      const key = `cell ${spot.box}`;
      if (!cells.has(key)) cells.set(key, { key, box: spot.box, click: spot.click, moves: [] });
      cells.get(key).moves.push(spot);
    }
    for (const target of cells.values()) this.#add(target);
    const gifts = spots.filter((spot) => !spot.box || `cell ${spot.box}` === this.chosen);
    for (const piece of stock) {
      const moves = gifts.filter((spot) => spot.gives === piece.piece);
      if (moves.length) {
        const key = `piece ${piece.piece}`;
        this.#add({ key, box: piece.box, click: [piece.box], moves, name: piece.name });
      }
    }
    if (this.targets.length) this.targets[0].group.setAttribute("tabindex", "0");
    this.#near(null);
  }

  #add(target) {
    const [x, y, width, height] = target.box;
    const small = width < 60;
    const inset = small ? 1 : 6;
    const shape = { x: x + inset, y: y + inset, width: width - 2 * inset, height: height - 2 * inset };
    const round = this.scene.picture.falls ? width / 2 : 12;
    target.ghost = draw("rect", { class: "ghost", ...shape, rx: round });
    target.hit = draw("rect", { class: "hit", x, y, width, height });
    target.group = draw(
      "g",
      { class: "target", role: "button", tabindex: "-1", "data-key": target.key },
      target.hit,
      target.ghost,
    );
    target.group.dataset.move = target.moves[0].move;
    target.group.classList.toggle("chosen", target.key === this.chosen);
    this.layer.append(target.group);
    target.group.addEventListener("focus", () => this.#near(target));
    target.group.addEventListener("blur", () => this.#near(null));
    this.targets.push(target);
    this.#label(target);
  }

  #label(target) {
    const best = target.moves
      .map((spot) => this.rated.get(spot.move) || {})
      .sort(bestFirst)[0];
    const known = best?.value && this.shown;
    const name = target.name || (target.moves.length > 1 ? `cell ${target.moves[0].move.split("-")[0]}` : target.moves[0].move);
    const worth = known ? `, ${valueWords(best.value, best.plies)}` : "";
    target.group.setAttribute("aria-label", `${target.name ? "give " : "play "}${name}${worth}`);
    target.chip?.remove();
    if (known) this.chips.append((target.chip = this.#chip(target.box, best)));
  }

  #chip([x, y, width, height], { value, plies }) {
    const text = chipText(value, plies);
    const letter = letterOf(value);
    const small = width < 60;
    const [wide, high] = small ? [46, 20] : [Math.max(46, 24 + 13 * text.length), 36];
    const [cx, cy] = [x + width / 2, small ? y + height + 10 : y + height / 2];
    const letters = small ? 14 : 22;
    return draw(
      "g",
      { class: `chip ${letter}` },
      draw("rect", {
        class: "chipground", x: cx - wide / 2, y: cy - high / 2, width: wide, height: high,
        rx: high / 2, fill: GROUND[letter],
      }),
      draw("text", {
        class: "chiptext", x: cx, y: cy + letters * 0.35, "font-size": letters,
        "font-family": "system-ui, sans-serif", "text-anchor": "middle", fill: "#ffffff",
      }, text),
    );
  }

  #choose(target) {
    if (!target || !this.open) return;
    if (target.moves.length === 1) {
      this.play(target.moves[0].move);
      return;
    }
    const byKeyboard = target.group === document.activeElement;
    this.chosen = target.key;
    this.#layTargets();
    this.place.dispatchEvent(new CustomEvent("half", { bubbles: true }));
    if (byKeyboard) this.targets.find((one) => one.name)?.group.focus();
  }

  // The pointer: of all moves that may be clicked here the one whose middle is nearest.
  #under(event) {
    const matrix = this.svg?.getScreenCTM();
    if (!matrix) return null;
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    const inside = ([x, y, w, h]) => at.x >= x && at.x < x + w && at.y >= y && at.y < y + h;
    const away = (target) => apart(middle(target), [at.x, at.y]);
    return this.targets
      .filter((target) => target.click.some(inside))
      .sort((a, b) => away(a) - away(b))[0] || null;
  }

  // The move that would be made now: its stone is seen faintly, a domino lies where it would lie.
  #near(target) {
    for (const one of this.targets) one.group.classList.toggle("near", one === target);
    if (!this.svg) return;
    this.svg.style.cursor = target ? "pointer" : "";
    const laid = target && !target.name ? target : this.targets.find((one) => one.key === this.chosen);
    if (!this.preview) return;
    if (!laid) {
      this.preview.remove();
      return;
    }
    const [x, y, width, height] = laid.box;
    for (const [name, value] of Object.entries({ x, y, width, height })) this.preview.setAttribute(name, value);
    if (!this.preview.isConnected) this.layer.prepend(this.preview);
  }

  #hover(event) {
    this.#near(this.#under(event));
  }

  #click(event) {
    const byHand = event.detail > 0;
    this.byKeyboard = !byHand;
    const group = event.target.closest?.(".target");
    this.#choose(byHand ? this.#under(event) : this.targets.find((one) => one.group === group));
  }

  #key(event) {
    const now = this.targets.find((target) => target.group === event.target);
    if (!now) return;
    this.byKeyboard = true;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.#choose(now);
      return;
    }
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!way) return;
    event.preventDefault();
    event.stopPropagation();
    this.#neighbour(now, way)?.group.focus();
  }

  #neighbour(now, [right, down]) {
    const [x, y] = middle(now);
    const rated = [];
    for (const target of this.targets) {
      const [tx, ty] = middle(target);
      const along = (tx - x) * right + (ty - y) * down;
      const across = Math.abs((tx - x) * down) + Math.abs((ty - y) * right);
      if (along > 1) rated.push([along + 2 * across, target]);
    }
    return rated.sort((a, b) => a[0] - b[0])[0]?.[1];
  }
}
