/** The live sessions, the newest first: start one, open one, delete one. */
import { getJson, postJson, send } from "../api.js";
import { Base } from "../base.js";
import { collectionName, dateName, t } from "../i18n.js";
import { go, linkTo } from "../router.js";
import { aboutService } from "../service.js";
import { html, nothing, repeat } from "../vendor/lit.js";

const PAGE = 100;

class LiveList extends Base {
  static properties = {
    allowed: { state: true },
    sessions: { state: true },
    collections: { state: true },
    complete: { state: true },
    problem: { state: true },
  };

  constructor() {
    super();
    /** whether the visitor may hold sessions, null until it is known @type {boolean | null} */
    this.allowed = null;
    /** @type {any[] | null} */
    this.sessions = null;
    /** @type {any[]} */
    this.collections = [];
    /** the name of the one that is chosen at first: the default one, where it is there */
    this.chosen = "";
    this.complete = true;
  }

  connectedCallback() {
    super.connectedCallback();
    document.title = `${t("nav.live")} – quoth`;
    this.attempt(async () => {
      const [{ collections }, { collection }] = await Promise.all([getJson("/v1/collections"), aboutService()]);
      const there = collections.some((/** @type {any} */ { name }) => name === collection);
      this.chosen = there ? collection : collections[0]?.name;
      this.collections = collections;
    });
    this.attempt(async () => {
      this.allowed = (await getJson("/v1/session")).scopes.includes("live");
      if (this.allowed) await this.more();
    });
  }

  more() {
    return this.attempt(async () => {
      const known = this.sessions ?? [];
      const { sessions } = await getJson(`/v1/sessions?limit=${PAGE}&skip=${known.length}`);
      this.sessions = [...known, ...sessions];
      this.complete = sessions.length < PAGE;
    });
  }

  /** @param {any} event */
  start(event) {
    event.preventDefault();
    const values = new FormData(event.target);
    this.attempt(async () => {
      const body = { title: String(values.get("title")).trim(), collections: values.getAll("collection") };
      go(`/live/${(await (await postJson("/v1/sessions", body)).json()).session_id}`);
    });
  }

  /** @param {any} session */
  forget(session) {
    if (!window.confirm(t("live.confirmDelete", { title: session.title }))) return;
    this.attempt(async () => {
      await send(`/v1/sessions/${session.session_id}`, { method: "DELETE" });
      this.sessions = (this.sessions ?? []).filter((known) => known !== session);
    });
  }

  render() {
    return html`<section class="page">
      <h1>${t("live.title")}</h1>
      <p class="lead">${t("live.lead")}</p>
      ${this.allowed === false ? html`<p class="status doubt">${t("live.notAllowed")}</p>` : nothing}
      ${this.allowed ? this.form() : nothing}
      ${this.problem ? html`<p class="problem" role="alert">${this.problem}</p>` : nothing}
      ${this.allowed === false ? nothing : this.list()}
    </section>`;
  }

  form() {
    return html`<form class="form" @submit=${this.start}>
        <label>${t("field.title")}<input name="title" maxlength="300" pattern=".*\\S.*" required></label>
        <fieldset><legend>${t("live.collections")}</legend>
          ${this.collections.map(({ name, documents }) => html`<label class="check"><input type="checkbox" name="collection" value=${name} ?checked=${name === this.chosen}>
            ${collectionName(name)} <span class="soft">${t("library.count", { count: documents })}</span></label>`)}
          ${this.collections.length ? nothing : html`<p class="soft">${t("live.noDocuments")} <a href=${linkTo("/library")}>${t("live.upload")}</a></p>`}</fieldset>
        <button class="primary">${t("live.start")}</button>
      </form>`;
  }

  list() {
    const { sessions } = this;
    return html`<h2>${t("live.sessions")}</h2>
      ${sessions || this.problem ? nothing : html`<p class="soft">${t("loading")}</p>`}
      ${sessions && !sessions.length ? html`<p class="soft">${t("live.none")}</p>` : nothing}
      <ul class="list">${repeat(sessions ?? [], (session) => session.session_id, (session) => this.row(session))}</ul>
      ${this.complete ? nothing : html`<button @click=${this.more}>${t("more")}</button>`}`;
  }

  /** @param {any} session */
  row(session) {
    const { session_id: id, title, created_at: created, collections, state } = session;
    return html`<li><div class="grow"><a href=${linkTo(`/live/${id}`)}>${title}</a>
        <p class="soft"><time datetime=${created}>${dateName(created)}</time>${[...collections].map((name) => ` · ${collectionName(name)}`)}</p></div>
      <span class="badge ${state}">${t(`live.${state}`)}</span>
      <button aria-label=${t("library.delete", { title })} @click=${() => this.forget(session)}>${t("delete")}</button></li>`;
  }
}

customElements.define("live-list", LiveList);
