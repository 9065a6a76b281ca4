// The game to a file and back, links and pictures.

import { tell } from "./api.js";
import { download, find } from "./dom.js";
import { boardFields } from "./state.js";

/** Save the game as the terminal does. */
export async function save(state, costs) {
  const content = {
    ...boardFields(state),
    from: state.from,
    moves: state.moves.join(" "),
    seats: [state.seats.first, state.seats.second],
    costs: state.moves.map((_, number) => costs.get(number) || {}),
  };
  const text = await tell("save", content);
  download(`${nameOf(state)}.txt`, new Blob([text], { type: "text/plain" }));
}

/** The game of a file that somebody picks. */
export async function load(file, state) {
  const text = await file.text();
  return tell("load", { ...boardFields(state), text });
}

function nameOf(state) {
  return `${state.game}-${state.board}`;
}

/** The board as it is shown, as an SVG file. */
export function saveSvg(board, state) {
  download(`${nameOf(state)}.svg`, new Blob([board.copy()], { type: "image/svg+xml" }));
}

/** The same as PNG: drawn here, so that nothing has to be installed. */
export async function savePng(board, state) {
  const address = URL.createObjectURL(new Blob([board.copy()], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.width;
    canvas.height = image.height;
    const paper = canvas.getContext("2d");
    paper.fillStyle = "#ffffff";
    paper.fillRect(0, 0, canvas.width, canvas.height);
    paper.drawImage(image, 0, 0);
    const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
    download(`${nameOf(state)}.png`, blob);
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** Put the address of what is shown where it can be pasted from. */
export async function copyLink() {
  const note = find("note");
  try {
    await navigator.clipboard.writeText(location.href);
    note.textContent = "Link copied.";
  } catch {
    note.textContent = location.href; // no clipboard here: to be copied by hand
  }
}
