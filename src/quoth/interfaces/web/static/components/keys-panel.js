/** The keys and shares of a tenant: list, make, revoke. A new token is shown once. */
import { getJson, postJson, send } from "../api.js";
import { Base } from "../base.js";
import { dateName, t } from "../i18n.js";
import { html, nothing, repeat } from "../vendor/lit.js";

const SCOPES = ["read", "ingest", "live", "admin"];

class KeysPanel extends Base {
  static properties = {
    keys: { state: true },
    shares: { state: true },
    made: { state: true },
    problem: { state: true },
  };

  constructor() {
    super();
    /** @type {any[]} */
    this.keys = [];
    /** @type {any[]} */
    this.shares = [];
    /** the token that was made last */
    this.made = "";
    this.problem = "";
  }

  connectedCallback() {
    super.connectedCallback();
    this.attempt(() => this.load());
  }

  async load() {
    [this.keys, this.shares] = await Promise.all([getJson("/v1/keys"), getJson("/v1/shares")]);
  }

  /** @param {any} event @param {string} path @param {(form: any) => object} body */
  make(event, path, body) {
    event.preventDefault();
    const form = event.target;
    this.attempt(async () => {
      this.made = (await (await postJson(path, body(form.elements))).json()).token;
      form.reset();
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
    const keyOf = (/** @type {any} */ { label, scope }) => ({ label: label.value, scopes: SCOPES.slice(0, SCOPES.indexOf(scope.value) + 1) });
    const shareOf = (/** @type {any} */ { collection, days }) => ({ collection: collection.value, expires_days: Number(days.value) });
    return html`<h2>${t("settings.keys")}</h2>
      ${this.problem ? html`<p class="problem" role="alert">${this.problem}</p>` : nothing}
      <div role="status">${this.made ? html`<p>${t("keys.made")}</p><p><code class="token">${this.made}</code></p>` : nothing}</div>
      <ul class="list">${repeat(this.keys, (key) => key.key_id, (key) => this.key(key))}</ul>
      <form class="inline" @submit=${(/** @type {Event} */ event) => this.make(event, "/v1/keys", keyOf)}>
        <label>${t("keys.label")}<input name="label" maxlength="100" required></label>
        <label class="narrow">${t("keys.may")} <select name="scope">${SCOPES.map((scope) => html`<option value=${scope}>${t(`scope.${scope}`)}</option>`)}</select></label>
        <button>${t("keys.make")}</button></form>
      <h2>${t("settings.shares")}</h2>
      <ul class="list">${repeat(this.shares, (share) => share.share_id, (share) => this.share(share))}</ul>
      <form class="inline" @submit=${(/** @type {Event} */ event) => this.make(event, "/v1/shares", shareOf)}>
        <label>${t("choices.collection")}<input name="collection" maxlength="100" required></label>
        <label class="narrow">${t("keys.days")}<input name="days" type="number" min="1" max="30" value="7" required></label>
        <button>${t("keys.makeShare")}</button></form>`;
  }

  /** @param {any} key */
  key({ key_id: id, label, scopes, created_at: created, revoked_at: revoked }) {
    return html`<li><span class="grow">${label} <span class="soft">${id} · ${scopes.map((/** @type {string} */ scope) => t(`scope.${scope}`)).join(", ")} · ${dateName(created)}</span></span>
      ${revoked ? html`<span class="soft">${t("keys.revoked")}</span>` : html`<button aria-label=${t("keys.revokeOne", { label })} @click=${() => this.revoke(`/v1/keys/${id}`, label)}>${t("keys.revoke")}</button>`}</li>`;
  }

  /** @param {any} share */
  share({ share_id: id, collection, expires_at: expires, revoked_at: revoked }) {
    const label = collection || t("live.title");
    return html`<li><span class="grow">${label} <span class="soft">${id} · ${t("keys.until", { date: dateName(expires) })}</span></span>
      ${revoked ? html`<span class="soft">${t("keys.revoked")}</span>` : html`<button aria-label=${t("keys.revokeOne", { label })} @click=${() => this.revoke(`/v1/shares/${id}`, label)}>${t("keys.revoke")}</button>`}</li>`;
  }
}

customElements.define("keys-panel", KeysPanel);
