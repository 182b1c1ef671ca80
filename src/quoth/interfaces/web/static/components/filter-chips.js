/** Filters that were inferred from the question, each with a button that takes it away. */
import { Base } from "../base.js";
import { named, t } from "../i18n.js";
import { html, nothing } from "../vendor/lit.js";

/** Names of fields in a request, where they differ from those in an answer. @type {Record<string, string>} */
const REQUEST_NAMES = { label: "page", page: "page_number", seconds: "time" };

class FilterChips extends Base {
  static properties = { filters: { attribute: false } };

  constructor() {
    super();
    /** @type {{field: string, values: (string | number)[]}[]} */
    this.filters = [];
  }

  render() {
    if (!this.filters.length) return nothing;
    return html`<ul class="chips" aria-label=${t("filters.label")}>${this.filters.map((each) => this.chip(each))}</ul>`;
  }

  /** @param {{field: string, values: (string | number)[]}} filter */
  chip({ field, values }) {
    const text = `${named("filter", field)}: ${[...new Set(values)].join("–")}`;
    return html`<li><button class="chip" aria-label=${t("filters.remove", { filter: text })}
      @click=${() => this.tell("quoth-widen", { [REQUEST_NAMES[field] ?? field]: "any" })}>
      ${text} <span aria-hidden="true">✕</span></button></li>`;
  }
}

customElements.define("filter-chips", FilterChips);
