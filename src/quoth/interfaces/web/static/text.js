/**
 * Pure functions over texts and places.
 *
 * The service counts offsets in Unicode code points, JavaScript in UTF-16 units: all offsets of
 * the service go through `cut`.
 */
const SURROGATE = /[\ud800-\udfff]/;

/** What is shown of a long answer that is not the current one. */
const FEW_CHARS = 300;
const FEW_LINES = 6;

/** Return the code points from `start` to `end`. @param {string} text @param {number} start @param {number} [end] */
export function cut(text, start, end) {
  if (!SURROGATE.test(text)) return text.slice(start, end);
  return Array.from(text).slice(start, end).join("");
}

/** Return the number of code points. @param {string} text */
export function lengthOf(text) {
  return SURROGATE.test(text) ? Array.from(text).length : text.length;
}

/**
 * Split a text into what comes before, in and after a span; no span marks nothing.
 * @param {string} text @param {[number, number] | null | undefined} span
 * @returns {[string, string, string]}
 */
export function around(text, span) {
  if (!span) return [text, "", ""];
  return [cut(text, 0, span[0]), cut(text, span[0], span[1]), cut(text, span[1])];
}

/**
 * Return the span of words in a text in code points, null where they are not in it; white space
 * may differ, and so may the ellipses around a piece of a sentence.
 * @param {string} words @param {string} text @returns {[number, number] | null}
 */
export function spanOf(words, text) {
  const plain = words.replace(/^… | …$/g, "").trim();
  if (!plain) return null;
  const pattern = plain.split(/\s+/).map((each) => each.replace(/[.*+?^${}()|[\]\\\/-]/g, "\\$&")).join("\\s+");
  const found = new RegExp(pattern).exec(text);
  if (!found) return null;
  const start = lengthOf(text.slice(0, found.index));
  return [start, start + lengthOf(found[0])];
}

/** Return seconds as `1:05` or `1:02:05`. @param {number} seconds */
export function clock(seconds) {
  const whole = Math.floor(seconds);
  const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

/** Return a day such as 20261231 as `2026-12-31`, one outside of all years as `…`. @param {number} day */
export function dayName(day) {
  const digits = String(day);
  return digits.length === 8 && day < 99_990_000 ? `${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6)}` : "…";
}

/**
 * Return a place for people: pages, times or a section, and who speaks there.
 * @param {any} locator @param {(key: string, values?: Record<string, unknown>) => string} t
 */
export function placeName(locator, t) {
  return [spotName(locator, t), locator.speaker].filter(Boolean).join(" · ");
}

/** @param {any} locator @param {(key: string, values?: Record<string, unknown>) => string} t */
function spotName(locator, t) {
  if (locator.kind === "pages") return countedName(locator.unit ?? "page", locator, t);
  if (locator.kind === "seconds")
    return `${locator.estimated ? "≈" : ""}${clock(locator.start)}–${clock(locator.end)}`;
  const counted = locator.unit ? countedName(locator.unit, locator, t) : "";
  return [locator.section, counted].filter(Boolean).join(" ▸ ");
}

/**
 * Return "p. 12", "slides 3–5", "row 7": what a source counts, as people see it.
 * @param {string} unit @param {any} locator @param {(key: string, values?: Record<string, unknown>) => string} t
 */
function countedName(unit, { label_first: first, label_last: last }, t) {
  return first === last ? t(`place.${unit}`, { [unit]: first }) : t(`place.${unit}s`, { first, last });
}

/**
 * Split an answer into paragraphs of sentences; text that is no sentence is kept as it is.
 *
 * A sentence has its mark, `s2` for the second; `line` tells that a piece begins a new line.
 * @param {{text: string, sentences: {start: number, end: number, citations: number[], support: string, marked: boolean}[]}} answer
 * @returns {Piece[][]}
 * @typedef {{text: string, mark: string, citations: number[], support: string, telling: boolean, line: boolean}} Piece
 */
export function paragraphs(answer) {
  /** @type {Piece[][]} */
  const found = [[]];
  let line = false;
  const add = (/** @type {Omit<Piece, "line">} */ piece) => {
    found[found.length - 1].push({ ...piece, line });
    line = false;
  };
  const plain = (/** @type {string} */ text) => {
    text.replace(/\s*\[\d+\]/g, "").split(/\n\s*\n/).forEach((part, at) => {
      if (at) found.push([]);
      line = !at && /^\s*\n/.test(part);
      if (part.trim()) add({ text: part.trim(), mark: "", citations: [], support: "", telling: false });
      line ||= /\n\s*$/.test(part);
    });
  };
  let at = 0;
  answer.sentences.forEach(({ start, end, citations, support, marked: telling }, index) => {
    plain(cut(answer.text, at, start));
    add({ text: cut(answer.text, start, end), mark: `s${index + 1}`, citations, support, telling });
    at = end;
  });
  plain(cut(answer.text, at));
  return found.filter((each) => each.length);
}

/**
 * Return an answer as plain text with its sources and links, those of its own address unless others are given.
 * @param {any} answer @param {string} question @param {string} address @param {any} t @param {(citation: any) => string} [linkOf]
 */
export function asText(answer, question, address, t, linkOf = ({ number }) => `${address}#c${number}`) {
  const sources = answer.citations.map((/** @type {any} */ each) =>
    `[${each.number}] ${each.document_name}, ${placeName(each.locator, t)}: ${linkOf(each)}`);
  return [question, answer.text, sources.join("\n"), address].filter(Boolean).join("\n\n");
}

/** Return whether a collection may have this name, which is a part of its address. @param {string} name */
export function isCollectionName(name) {
  return !/[/\\]/.test(name) && ![".", ".."].includes(name);
}

/** Return the path of the page of a document with a span of its text marked. @param {string} id @param {{start: number, end: number}} span */
export function linePath(id, { start, end }) {
  return `/d/${encodeURIComponent(id)}?start=${start}&end=${end}`;
}

/**
 * Return how many code points before a marked part are left out, so that a card of few lines shows it.
 * @param {string} before @param {number} chars @param {number} lines those of it that are kept
 */
export function leftOut(before, chars, lines) {
  const last = Array.from(before.split("\n").slice(-lines).join("\n"));
  if (last.length <= chars) return lengthOf(before) - last.length;
  return lengthOf(before) - lengthOf(last.slice(-chars).join("").replace(/^\S{0,20}\s+/, ""));
}

/** Return whether a link is safe to open: the service's own or a web address. @param {string | null} link */
export function isSafeLink(link) {
  return !!link && (/^https?:\/\//i.test(link) || /^\/(?![/\\])/.test(link));
}

/**
 * Return the passages that can be opened, each with its mark in the address: `c2` is the second
 * citation, `p1` the first passage that was found and is not cited.
 * @param {import("./reduce.js").Asking} asking @returns {{mark: string, item: any}[]}
 */
export function passages({ answer, citations, evidence, hits }) {
  const cited = (citations.length ? citations : evidence).map((item) => ({ mark: `c${item.number}`, item }));
  const found = answer ? answer.closest ?? [] : cited.length ? [] : hits;
  return [...cited, ...found.map((/** @type {any} */ item, /** @type {number} */ at) => ({ mark: `p${at + 1}`, item }))];
}

/** Return the titles of the documents that passages are from, by id. @param {{item: any}[]} items @returns {Record<string, string>} */
export function documentTitles(items) {
  return Object.fromEntries(items.map(({ item }) => [item.document_id, item.document_name ?? item.document]));
}

/**
 * What lights up: citations by their numbers, or of them only what a sentence says.
 * @typedef {{numbers: number[], words: string}} Light
 * @type {Light}
 */
export const DARK = Object.freeze({ numbers: [], words: "" });

/**
 * Return the mark of a citation that is opened by its number in a sentence: that of the sentence for
 * its first one, else the citation's own.
 * @param {any} answer @param {{mark: string, number?: number}} opened
 */
export function markOf(answer, { mark, number }) {
  const sentence = sentenceAt({ answer }, mark);
  return !sentence || sentence.citations[0] === number ? mark : `c${number}`;
}

/**
 * Return the beginning of an answer, of a few lines, and whether it is less than the whole.
 * @template {{text: string, sentences: {start: number, end: number}[]}} T
 * @param {T} answer @returns {{answer: T, cut: boolean}}
 */
export function beginningOf(answer) {
  const few = cut(answer.text, 0, FEW_CHARS).split("\n").slice(0, FEW_LINES).join("\n");
  if (lengthOf(answer.text) - lengthOf(few) < FEW_CHARS / 3) return { answer, cut: false };
  const text = `${few.replace(/\s+\S*$/, "")} …`;
  const end = lengthOf(text);
  const sentences = answer.sentences.filter((each) => each.start < end - 2)
    .map((each) => ({ ...each, end: Math.min(each.end, end) }));
  return { answer: { ...answer, text, sentences }, cut: true };
}

/** Return the sentence that a mark such as `s3` names. @param {{answer: any}} asking @param {string} mark */
export function sentenceAt(asking, mark) {
  return mark.startsWith("s") ? asking.answer?.sentences[parseInt(mark.slice(1), 10) - 1] : undefined;
}

/** Return the words of the sentence that a mark names, "" for none. @param {import("./reduce.js").Asking} asking @param {string} mark */
export function wordsAt(asking, mark) {
  const sentence = sentenceAt(asking, mark);
  return sentence ? cut(asking.answer.text, sentence.start, sentence.end) : "";
}

/**
 * Return the place among the passages of what a mark names, -1 for none; `s3` is the first
 * citation of the third sentence.
 * @param {import("./reduce.js").Asking} asking @param {string} mark
 */
export function openedAt(asking, mark) {
  const sentence = sentenceAt(asking, mark);
  const wanted = sentence ? `c${sentence.citations[0]}` : mark;
  return passages(asking).findIndex((each) => each.mark === wanted);
}

/** Return metadata as lines KEY=VALUE, a line for each value of a key. @param {Record<string, unknown>} [metadata] */
export function metadataLines(metadata = {}) {
  return Object.entries(metadata).flatMap(([key, value]) => [value].flat().map((each) => `${key}=${each}`)).join("\n");
}

/**
 * Return the metadata of lines KEY=VALUE; numbers that were there stay numbers. Throws Error with a line that is none.
 * @param {string} lines @param {Record<string, unknown>} [before]
 */
export function readMetadata(lines, before = {}) {
  /** @type {Map<string, string[]>} */
  const found = new Map();
  for (const line of lines.split("\n").map((each) => each.trim()).filter(Boolean)) {
    const [, key, value] = /^([^=]*[^=\s])\s*=\s*(.+)$/.exec(line) ?? [];
    if (!key) throw new Error(line);
    found.set(key, [...(found.get(key) ?? []), value]);
  }
  return Object.fromEntries([...found].map(([key, values]) => {
    const known = before[key];
    if (values.length > 1 || Array.isArray(known)) return [key, values];
    return [key, String(known) === values[0] ? known : values[0]];
  }));
}
