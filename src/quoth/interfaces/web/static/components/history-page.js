/** The questions that were asked: search in them, open one, delete one. */
import { getJson, send, sendJson } from "../api.js";
import { Base } from "../base.js";
import { collectionName, dateName, named, t } from "../i18n.js";
import { linkTo } from "../router.js";
import { html, nothing, repeat } from "../vendor/lit.js";

const PAGE = 100;
const TYPING_MS = 250;
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
    this.typing = 0;
  }

  connectedCallback() {
    super.connectedCallback();
    document.title = `${t("nav.history")} – quoth`;
    this.more();
  }

  /** @param {any} event */
  search(event) {
    clearTimeout(this.typing);
    const wanted = event.target.value.trim();
    this.typing = setTimeout(() => {
      this.wanted = wanted;
      this.queries = null;
      this.more();
    }, TYPING_MS);
  }

  async more() {
    const { wanted } = this;
    await this.attempt(async () => {
      const known = this.queries ?? [];
      const query = new URLSearchParams({ limit: String(PAGE), skip: String(known.length), ...(wanted && { words: wanted }) });
      const body = await getJson(`/v1/queries?${query}`);
      if (wanted !== this.wanted) return;
      this.queries = [...known, ...body.queries];
      this.complete = body.queries.length < PAGE;
    });
  }

  /** @param {any} query */
  async forget(query) {
    if (!window.confirm(t("history.confirm"))) return;
    await this.attempt(async () => {
      await send(`/v1/queries/${query.query_id}`, { method: "DELETE" });
      this.queries = this.queries && this.queries.filter((each) => each.query_id !== query.query_id);
    });
  }

  /** @param {any} query */
  async rename(query) {
    const title = window.prompt(t("history.newTitle"), query.title ?? query.text)?.trim();
    if (title === undefined) return;
    await this.attempt(async () => {
      await sendJson("PATCH", `/v1/queries/${query.query_id}`, { title: title === query.text ? "" : title });
      const renamed = { ...query, title: title === query.text ? null : title || null };
      this.queries = this.queries && this.queries.map((each) => (each.query_id === query.query_id ? renamed : each));
    });
  }

  render() {
    const found = this.queries ?? [];
    return html`<section class="page">
      <h1>${t("nav.history")}</h1>
      <label>${t("history.search")}
        <input type="search" @input=${this.search}></label>
      ${this.problem ? html`<p class="problem" role="alert">${this.problem}</p>` : nothing}
      ${this.queries || this.problem ? nothing : html`<p class="soft">${t("loading")}</p>`}
      ${this.queries && !found.length ? html`<p class="soft" role="status">${t(this.wanted ? "history.noMatch" : "history.none")}</p>` : nothing}
      <ul class="list">${repeat(found, (each) => each.query_id, (each) => this.row(each))}</ul>
      ${this.queries && !this.complete ? html`<button @click=${this.more}>${t("more")}</button>` : nothing}
    </section>`;
  }

  /** @param {any} query */
  row(query) {
    const hashed = HASH.test(query.text);
    const asked = hashed ? t("history.hashed") : query.text;
    const question = query.title ?? asked;
    return html`<li>
      <div class="grow"><a href=${linkTo(`/q/${query.query_id}`)}>${question}</a>
        ${query.title ? html`<p>${asked}</p>` : nothing}
        <p class="soft"><time datetime=${query.created_at}>${dateName(query.created_at)}</time> · ${collectionName(query.collection)}${
          query.status === "answered" ? nothing : html` · ${named("status", query.status)}`}</p></div>
      ${hashed ? nothing : html`<button class="quiet" aria-label=${t("history.rename", { question })} @click=${() => this.rename(query)}>${t("rename")}</button>`}
      <button class="quiet" aria-label=${t("history.delete", { question })} @click=${() => this.forget(query)}>${t("delete")}</button>
    </li>`;
  }
}

customElements.define("history-page", HistoryPage);
