// Values as people read them: letters with numbers, and whole sentences.

const LETTERS = { WIN: "W", DRAW: "D", LOSS: "L" };

/** `W 17`, `D`, `L 4`; distances of draws say little and are left out. */
export function chipText(value, plies) {
  const letter = LETTERS[value];
  return plies === null || value === "DRAW" ? letter : `${letter} ${plies}`;
}

/** The class of a chip. */
export function letterOf(value) {
  return LETTERS[value] || "none";
}

/** `win in 17 plies`. */
export function valueWords(value, plies) {
  const name = { WIN: "win", DRAW: "draw", LOSS: "loss" }[value];
  if (plies === null || plies === undefined || value === "DRAW") return name;
  return `${name} in ${plies} ${plies === 1 ? "ply" : "plies"}`;
}

/** The other side's value. */
export function negated(value) {
  return { WIN: "LOSS", DRAW: "DRAW", LOSS: "WIN" }[value];
}

/** How good a value is for whoever has it. */
export function score(value) {
  return { WIN: 1, DRAW: 0, LOSS: -1 }[value];
}

/** Best first, as everywhere: fastest win, draws, slowest loss; the unknown last. */
export function bestFirst(a, b) {
  if (!a.value || !b.value) return (a.value ? 0 : 1) - (b.value ? 0 : 1);
  const by = score(b.value) - score(a.value);
  if (by || a.value === "DRAW") return by;
  const [x, y] = [a.plies ?? Infinity, b.plies ?? Infinity];
  if (x === y) return 0;
  return a.value === "WIN" ? x - y : y - x;
}

/** `1,234,567` nodes. */
export function count(number) {
  return number.toLocaleString("en");
}

/** `162 kB`. */
export function size(bytes) {
  for (const [unit, name] of [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"]]) {
    if (bytes >= unit) return `${(bytes / unit).toPrecision(3)} ${name}`;
  }
  return `${bytes} B`;
}
