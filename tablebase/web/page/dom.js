// Small helpers: elements by id, elements made from parts. No markup from text, ever.

const SVG = "http://www.w3.org/2000/svg";

/** The element of an id. */
export function find(id) {
  return document.getElementById(id);
}

/** An HTML element with attributes and children; `on...` attributes are listeners. */
export function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same of SVG. */
export function draw(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(key, value === true ? "" : value);
    }
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** The elements of SVG text. */
export function parseSvg(text) {
  const found = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  return document.importNode(found, true);
}

/** A field of a form for an option of a game: a list to choose from, or text. */
export function field({ name, help, default: usual, choices }, value = usual) {
  const control = choices.length
    ? make("select", { name }, ...choices.map((text) => make("option", { value: text, selected: text === value }, text)))
    : make("input", { name, value, placeholder: usual, autocomplete: "off", spellcheck: "false", maxlength: "1000" });
  return make("label", { title: help }, name[0].toUpperCase() + name.slice(1), control);
}

/** A player: the picture of a stone, or a number where stones are nobody's. */
export function iconOf(svg, number) {
  return svg ? make("i", { class: "icon" }, parseSvg(svg)) : make("i", { class: "icon number" }, String(number));
}

/** A value as a chip. */
export function chip(letter, text) {
  return make("span", { class: `chip ${letter}` }, text);
}

/** Offer bytes as a file. */
export function download(name, blob) {
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
