/** Filters that were inferred from the question, each with a button that takes it away. */
import { Base } from "../base.js";
import { languageName, named, t } from "../i18n.js";
import { clock, dayName } from "../text.js";
import { html, nothing } from "../vendor/lit.js";

/** Names of fields in a request, where they differ from those in an answer. @type {Record<string, string>} */
const REQUEST_NAMES = { label: "page", page: "page_number", seconds: "time" };

const RANGES = ["page", "seconds", "date"];
/** Seconds that stand for no end. */
const OPEN = 100_000;

class FilterChips extends Base {
  static properties = { filters: { attribute: false }, titles: { attribute: false } };

  constructor() {
    super();
    /** @type {{field: string, values: (string | number)[]}[]} */
    this.filters = [];
    /** titles of documents by their ids @type {Record<string, string>} */
    this.titles = {};
  }

  render() {
    if (!this.filters.length) return nothing;
    return html`<ul class="chips" aria-label=${t("filters.label")}>${this.filters.map((each) => this.chip(each))}</ul>`;
  }

  /** @param {string} field @param {string | number} value @returns {string | number} */
  value(field, value) {
    switch (field) {
      case "document": return this.titles[value] ?? "…";
      case "seconds": return Number(value) < OPEN ? clock(Number(value)) : "…";
      case "date": return dayName(Number(value));
      case "language": return languageName(String(value));
      case "kind": case "segment": return named(field, String(value));
      default: return value;
    }
  }

  /** @param {{field: string, values: (string | number)[]}} filter */
  chip({ field, values }) {
    const value = [...new Set(values.map((each) => this.value(field, each)))].join(RANGES.includes(field) ? "–" : ", ");
    const text = t("filter.text", { name: named("filter", field), value });
    return html`<li><button class="chip" aria-label=${t("filters.remove", { filter: text })}
      @click=${() => this.tell("quoth-widen", { [REQUEST_NAMES[field] ?? field]: "any" })}>
      ${text} <span aria-hidden="true">✕</span></button></li>`;
  }
}

customElements.define("filter-chips", FilterChips);
