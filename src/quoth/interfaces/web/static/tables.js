/** Tables in the stored text of a document: a header, and rows whose cells begin with its names. */

const GAP = " | ";

/**
 * @typedef {{text: string, start: number, end: number}} Block
 * @typedef {{text: string, at: number}} Cell a part of a block, which begins at this character
 */

/** Return the cells of a text. @param {string} text @returns {Cell[]} */
function cellsOf(text) {
  let at = 0;
  return text.split(GAP).map((cell) => {
    const found = { text: cell, at };
    at += cell.length + GAP.length;
    return found;
  });
}

/**
 * Return the cells of a row under the names of a header, null for each that it leaves out; null for another text.
 * @param {string} text @param {string[]} names @returns {(Cell | null)[] | null}
 */
export function rowUnder(text, names) {
  const cells = cellsOf(text);
  let at = 0;
  const row = names.map((name) => {
    const cell = cells[at];
    if (!name || !cell?.text.startsWith(`${name}: `)) return null;
    at += 1;
    const skipped = name.length + 2;
    return { text: cell.text.slice(skipped), at: cell.at + skipped };
  });
  return at && at === cells.length ? row : null;
}

/**
 * Return the blocks of a text in order, a table as its header with the rows below it.
 * @template {Block} T @param {T[]} blocks @returns {{block: T, header: Cell[], rows: T[]}[]}
 */
export function withTables(blocks) {
  const found = [];
  for (let at = 0; at < blocks.length; at += 1) {
    const block = blocks[at];
    const header = cellsOf(block.text);
    const names = header.map(({ text }) => text);
    let end = at + 1;
    if (names.length > 1) while (end < blocks.length && rowUnder(blocks[end].text, names)) end += 1;
    found.push({ block, header, rows: blocks.slice(at + 1, end) });
    at = end - 1;
  }
  return found;
}
