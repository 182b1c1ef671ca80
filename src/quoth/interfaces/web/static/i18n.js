/** Message catalogues; the browser's languages choose one. */

const LANGUAGES = ["en", "fr"];

/** Return the first language of a list that there are messages in, else English. @param {readonly string[]} wanted */
export function chooseLanguage(wanted) {
  return wanted.map((each) => each.slice(0, 2).toLowerCase()).find((each) => LANGUAGES.includes(each)) ?? "en";
}

export const language = chooseLanguage(navigator.languages);
/** @type {Record<string, string>} */
const messages = await (await fetch(new URL(`./locales/${language}.json`, import.meta.url))).json();
const plural = new Intl.PluralRules(language);
const number = new Intl.NumberFormat(language);
const date = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });

/**
 * Return a message with its values filled in; `count` selects `KEY.one` or `KEY.other`.
 * @param {string} key @param {Record<string, unknown>} [values] @returns {string}
 */
export function t(key, values = {}) {
  const counted = typeof values.count === "number" ? `${key}.${plural.select(values.count)}` : key;
  const message = messages[counted] ?? messages[`${key}.other`] ?? messages[key] ?? key;
  return message.replace(/\{(\w+)\}/g, (_all, name) => {
    const value = values[name];
    return typeof value === "number" ? number.format(value) : String(value ?? "");
  });
}

/** Return the message of a key, else another text, else the key's last part. @param {string} group @param {string} name @param {string} [other] */
export function named(group, name, other = name.replaceAll("_", " ")) {
  return messages[`${group}.${name}`] ?? other;
}

/** Return the name of the kind of a document; pictures are read as the pages of a PDF. @param {{kind: string | null, source: string}} document */
export function kindName({ kind, source }) {
  if (!kind) return "–";
  return named("kind", isPicture({ source }) ? "picture" : kind);
}

/** @param {{source: string}} document */
export function isPicture({ source }) {
  return /\.(png|jpe?g|tiff?)$/i.test(source);
}

/** Return the name of a collection for people. @param {string} name */
export function collectionName(name) {
  return name === "default" ? t("choices.default") : name;
}

/** Return the name of a language. @param {string} code */
export function languageName(code) {
  return new Intl.DisplayNames([language], { type: "language" }).of(code) ?? code;
}

/** @param {string} iso */
export function dateName(iso) {
  return date.format(new Date(iso));
}

/** Return the date of a document, as exact as it is known: a day, a month or a year. @param {string} iso */
export function dayName(iso) {
  /** @type {Intl.DateTimeFormatOptions} */
  const known = { year: "numeric", ...(iso.length > 4 && { month: "long" }), ...(iso.length > 7 && { day: "numeric" }) };
  return new Intl.DateTimeFormat(language, { ...known, timeZone: "UTC" }).format(new Date(iso));
}
