// What is shown, as the address says it: game, board, options, moves, how far, who plays.
// The address is the state: links can be shared, Back goes back.

export const HUMAN = "human";

/** What an address asks of the service: all but what only the page reads. */
export function question(address) {
  const { at, first, second, hide, pos, ...asked } = Object.fromEntries(new URLSearchParams(address.search));
  return pos === undefined ? asked : { moves: pos, ...asked }; // links of another page
}

/** The state that an address names, of whose board and moves the service says what they are. */
export function read(address, games, { game: name, board, options: known, history: moves }) {
  const fields = new URLSearchParams(address.search);
  const game = games.find((one) => one.name === name);
  const isAlias = fields.get("game") !== null && fields.get("game") !== name;
  const options = {};
  for (const option of game.options) {
    const usual = isAlias ? known[option.name] ?? option.default : option.default;
    options[option.name] = fields.get(option.name) || usual;
  }
  const at = Number.parseInt(fields.get("at"), 10);
  return {
    game: name,
    board,
    options,
    from: fields.get("from") || "",
    moves,
    at: Number.isNaN(at) ? moves.length : Math.min(Math.max(at, 0), moves.length),
    seats: { first: fields.get("first") || HUMAN, second: fields.get("second") || HUMAN },
    values: fields.get("hide") !== "on",
    flip: fields.get("flip") === "on",
  };
}

// Moves of one character may stand together: 4453.
function join(moves, from) {
  const short = !from && moves.every((move) => move.length === 1);
  return moves.join(short ? "" : " ");
}

/** The board of a state, as the service wants it. */
export function boardFields(state) {
  return { game: state.game, board: state.board, ...state.options };
}

/** The position of a state after so many of its moves. */
export function positionFields(state, at = state.at) {
  return { ...boardFields(state), from: state.from, moves: state.moves.slice(0, at).join(" ") };
}

/** A word for a position, to remember what is known of it. */
export function keyOf(state, at = state.at) {
  return new URLSearchParams(positionFields(state, at)).toString();
}

/** The address of a state. */
export function write(state, games) {
  const game = games.find((one) => one.name === state.game);
  const fields = { game: state.game, board: state.board };
  for (const option of game.options) {
    if (state.options[option.name] !== option.default) {
      fields[option.name] = state.options[option.name];
    }
  }
  if (state.from) fields.from = state.from;
  if (state.moves.length) fields.moves = join(state.moves, state.from);
  if (state.at !== state.moves.length) fields.at = state.at;
  if (state.seats.first !== HUMAN) fields.first = state.seats.first;
  if (state.seats.second !== HUMAN) fields.second = state.seats.second;
  if (!state.values) fields.hide = "on";
  if (state.flip) fields.flip = "on";
  return `/?${new URLSearchParams(fields)}`;
}
