/** The questions that were asked: search in them, open one, delete one. */
import { getJson, send } from "../api.js";
import { Base } from "../base.js";
import { dateName, named, t } from "../i18n.js";
import { html, nothing, repeat } from "../vendor/lit.js";

const PAGE = 100;
/** What is kept of a question under the setting that stores no texts. */
const HASH = /^[0-9a-f]{64}$/;

class HistoryPage extends Base {
  static properties = {
    queries: { state: true },
    complete: { state: true },
    wanted: { state: true },
    problem: { state: true },
  };

  constructor() {
    super();
    /** @type {any[] | null} */
    this.queries = null;
    this.complete = false;
    this.wanted = "";
    this.problem = "";
  }

  connectedCallback() {
    super.connectedCallback();
    document.title = `${t("nav.history")} – quoth`;
    this.more();
  }

  async more() {
    try {
      const known = this.queries ?? [];
      const body = await getJson(`/v1/queries?limit=${PAGE}&skip=${known.length}`);
      this.queries = [...known, ...body.queries];
      this.complete = body.queries.length < PAGE;
    } catch (error) {
      this.problem = /** @type {Error} */ (error).message;
    }
  }

  /** @param {any} query */
  async forget(query) {
    if (!window.confirm(t("history.confirm"))) return;
    try {
      await send(`/v1/queries/${query.query_id}`, { method: "DELETE" });
      this.queries = (this.queries ?? []).filter((each) => each !== query);
    } catch (error) {
      this.problem = /** @type {Error} */ (error).message;
    }
  }

  found() {
    const words = this.wanted.toLocaleLowerCase().split(/\s+/).filter(Boolean);
    const has = (/** @type {any} */ each) => words.every((word) => each.text.toLocaleLowerCase().includes(word));
    return (this.queries ?? []).filter(has);
  }

  render() {
    const found = this.found();
    return html`<section class="page">
      <h1>${t("nav.history")}</h1>
      <label>${t("history.search")}
        <input type="search" @input=${(/** @type {any} */ event) => { this.wanted = event.target.value; }}></label>
      ${this.problem ? html`<p class="problem" role="alert">${this.problem}</p>` : nothing}
      ${this.queries ? nothing : html`<p class="soft">${t("loading")}</p>`}
      ${this.queries && !found.length ? html`<p class="soft" role="status">${t(this.wanted ? "history.noMatch" : "history.none")}</p>` : nothing}
      <ul class="list">${repeat(found, (each) => each.query_id, (each) => this.row(each))}</ul>
      ${this.queries && !this.complete ? html`<button @click=${this.more}>${t("more")}</button>` : nothing}
    </section>`;
  }

  /** @param {any} query */
  row(query) {
    const question = HASH.test(query.text) ? t("history.hashed") : query.text;
    return html`<li>
      <div class="grow"><a href=${`/q/${query.query_id}`}>${question}</a>
        <p class="soft"><time datetime=${query.created_at}>${dateName(query.created_at)}</time> · ${query.collection}${
          query.status === "answered" ? nothing : html` · ${named("status", query.status)}`}</p></div>
      <button class="quiet" aria-label=${t("history.delete", { question })} @click=${() => this.forget(query)}>${t("delete")}</button>
    </li>`;
  }
}

customElements.define("history-page", HistoryPage);
