/**
 * The keys and shares of a tenant: list, make, revoke. What opens them is shown once. Tells
 * `quoth-session` with the session when the page was signed in with the first key.
 */
import { getJson, postJson, send } from "../api.js";
import { Base } from "../base.js";
import { collectionName, dateName, t } from "../i18n.js";
import { shareAddress } from "../shares.js";
import { html, nothing, repeat } from "../vendor/lit.js";
import "./share-note.js";

const SCOPES = ["read", "ingest", "live", "admin"];

class KeysPanel extends Base {
  static properties = {
    open: { type: Boolean },
    keys: { state: true },
    shares: { state: true },
    collections: { state: true },
    token: { state: true },
    address: { state: true },
    problem: { state: true },
  };

  constructor() {
    super();
    /** whether this page needs no key */
    this.open = false;
    /** @type {any[] | null} null until they are known */
    this.keys = null;
    /** @type {any[]} */
    this.shares = [];
    /** @type {any[]} */
    this.collections = [];
    /** the token of the key that was made last */
    this.token = "";
    /** the address of the share that was made last */
    this.address = "";
  }

  connectedCallback() {
    super.connectedCallback();
    this.attempt(() => this.load());
  }

  async load() {
    [this.keys, this.shares, { collections: this.collections }] = await Promise.all([
      getJson("/v1/keys"), getJson("/v1/shares"), getJson("/v1/collections"),
    ]);
  }

  /** Whether no key exists: the first one locks out those without. */
  get first() {
    return this.open && this.keys?.length === 0;
  }

  /** @param {any} event */
  makeKey(event) {
    event.preventDefault();
    const form = event.target;
    const { label, scope } = form.elements;
    const scopes = SCOPES.slice(0, SCOPES.indexOf(scope.value) + 1);
    this.attempt(async () => {
      this.token = (await (await postJson("/v1/keys", { label: label.value, scopes })).json()).token;
      form.reset();
      if (this.first) await this.signIn(scopes);
      await this.load();
    });
  }

  /** From the first key on this page needs it, too. @param {string[]} scopes */
  async signIn(scopes) {
    const session = await (await postJson("/v1/session", { key: this.token })).json();
    // Who may not administer does not see this panel, but has to see the token.
    if (scopes.includes("admin")) this.tell("quoth-session", session);
  }

  /** @param {any} event */
  share(event) {
    event.preventDefault();
    const { collection, days } = event.target.elements;
    this.attempt(async () => {
      const body = { collection: collection.value, expires_days: Number(days.value) };
      const { token } = await (await postJson("/v1/shares", body)).json();
      this.address = await shareAddress("/", token);
      await this.load();
    });
  }

  /** @param {string} path @param {string} label */
  revoke(path, label) {
    if (!window.confirm(t("keys.confirmRevoke", { label }))) return;
    this.attempt(async () => {
      await send(path, { method: "DELETE" });
      await this.load();
    });
  }

  render() {
    const preset = this.first ? "admin" : "read";
    return html`<h2>${t("settings.keys")}</h2>
      ${this.problem ? html`<p class="problem" role="alert">${this.problem}</p>` : nothing}
      <div role="status">${this.token ? html`<p>${t("keys.made")}</p><p><code class="token">${this.token}</code></p>` : nothing}</div>
      ${this.first ? html`<p class="status doubt">${t("keys.first")}</p>` : nothing}
      <ul class="list">${repeat(this.keys ?? [], (key) => key.key_id, (key) => this.key(key))}</ul>
      <form class="inline" @submit=${this.makeKey}>
        <label>${t("keys.label")}<input name="label" maxlength="100" required></label>
        <label class="narrow">${t("keys.may")} <select name="scope">${SCOPES.map((scope) => html`<option value=${scope} ?selected=${scope === preset}>${t(`scope.${scope}`)}</option>`)}</select></label>
        <button>${t("keys.make")}</button></form>
      <h2>${t("settings.shares")}</h2>
      <div role="status"><share-note .address=${this.address} .promise=${t("keys.shared")} .open=${this.open}></share-note></div>
      <ul class="list">${repeat(this.shares, (share) => share.share_id, (share) => this.shared(share))}</ul>
      <form class="inline" @submit=${this.share}>
        <label>${t("choices.collection")} <select name="collection" required>${this.collections.map(({ name }) => html`<option value=${name}>${collectionName(name)}</option>`)}</select></label>
        <label class="narrow">${t("keys.days")}<input name="days" type="number" min="1" max="30" value="7" required></label>
        <button>${t("keys.makeShare")}</button></form>`;
  }

  /** @param {any} key */
  key({ key_id: id, label, scopes, created_at: created, revoked_at: revoked }) {
    return html`<li><span class="grow">${label} <span class="soft">${id} · ${scopes.map((/** @type {string} */ scope) => t(`scope.${scope}`)).join(", ")} · ${dateName(created)}</span></span>
      ${revoked ? html`<span class="soft">${t("keys.revoked")}</span>` : html`<button aria-label=${t("keys.revokeOne", { label })} @click=${() => this.revoke(`/v1/keys/${id}`, label)}>${t("keys.revoke")}</button>`}</li>`;
  }

  /** @param {any} share */
  shared({ share_id: id, collection, expires_at: expires, revoked_at: revoked }) {
    const label = collection || t("live.title");
    return html`<li><span class="grow">${label} <span class="soft">${id} · ${t("keys.until", { date: dateName(expires) })}</span></span>
      ${revoked ? html`<span class="soft">${t("keys.revoked")}</span>` : html`<button aria-label=${t("keys.revokeOne", { label })} @click=${() => this.revoke(`/v1/shares/${id}`, label)}>${t("keys.revoke")}</button>`}</li>`;
  }
}

customElements.define("keys-panel", KeysPanel);
