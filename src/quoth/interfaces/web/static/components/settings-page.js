/** The state of the service, and signing out. */
import { getJson, send } from "../api.js";
import { Base } from "../base.js";
import { named, t } from "../i18n.js";
import { linkTo } from "../router.js";
import { html, nothing } from "../vendor/lit.js";
import "./audit-panel.js";
import "./keys-panel.js";
import "./tenants-panel.js";

class SettingsPage extends Base {
  static properties = {
    health: { state: true },
    session: { state: true },
    privacy: { state: true },
    problem: { state: true },
  };

  constructor() {
    super();
    /** @type {any} */
    this.health = null;
    /** @type {any} */
    this.session = null;
    /** @type {any} */
    this.privacy = null;
  }

  connectedCallback() {
    super.connectedCallback();
    document.title = `${t("nav.settings")} – quoth`;
    this.load();
  }

  async load() {
    await this.attempt(async () => {
      // 503 tells the state as 200 does.
      const response = await fetch(linkTo("/readyz"), { credentials: "same-origin" });
      this.health = response.ok || response.status === 503 ? await response.json() : await getJson("/readyz");
      this.session = await getJson("/v1/session");
      this.privacy = await getJson("/v1/privacy").catch(() => null); // a share may not see it
    });
  }

  async signOut() {
    await send("/v1/session", { method: "DELETE" });
    window.dispatchEvent(new CustomEvent("quoth-signed-out"));
  }

  render() {
    return html`<section class="page">
      <h1>${t("settings.title")}</h1>
      ${this.problem ? html`<p class="problem" role="alert">${this.problem}</p>` : nothing}
      ${this.health ? this.parts(this.health) : this.problem ? nothing : html`<p class="soft">${t("loading")}</p>`}
      ${this.privacy ? this.leaving(this.privacy) : nothing}
      ${this.session?.scopes.includes("admin") ? html`<keys-panel .open=${!this.session.key_needed} @quoth-session=${(/** @type {CustomEvent} */ event) => { this.session = event.detail; }}></keys-panel><audit-panel></audit-panel>` : nothing}
      ${this.session?.operator ? html`<tenants-panel></tenants-panel>` : nothing}
      <p class="soft">${t("settings.language")}</p>
      <p><a href=${linkTo("/openapi.json")} target="_blank">${t("settings.export")}</a></p>
      ${this.session?.key_needed && this.session.tenant ? html`<p>${this.session.tenant}
        <button @click=${this.signOut}>${t("signin.out")}</button></p>` : nothing}
    </section>`;
  }

  /** What is sent to other machines, and what is stored. @param {any} privacy */
  leaving({ leaves, may_leave: may, history, retention_days: days }) {
    const away = may ? leaves.filter((/** @type {any} */ place) => !place.local) : [];
    return html`<section><h2>${t("settings.privacy")}</h2>
      <p>${away.length ? t("settings.leaves") : t("settings.stays")}</p>
      <ul class="bullets">${away.map((/** @type {any} */ { to, model }) => html`<li>${to} (${model})</li>`)}</ul>
      <p class="soft">${t(`settings.history.${history}`, { days })}</p></section>`;
  }

  /** @param {any} health */
  parts({ ready, catalogue, index, breakers, models, files = {} }) {
    return html`<p class="status ${ready ? "proved" : "problem"}">${t(ready ? "settings.ready" : "settings.notReady")}</p>
      ${facts(t("settings.parts"), { catalogue, index, ...breakers })}
      ${facts(t("settings.models"), models)}
      ${facts(t("settings.queue"), Object.fromEntries(Object.entries(files).map(([state, count]) => [named("state", state), count])))}`;
  }
}

/** The service calls a part "catalogue", or "The embedder NAME". @param {string} name */
function partName(name) {
  return named("part", name, name.replace(/^The (\w+)/, (_all, part) => named("part", part)));
}

/** @param {string} title @param {Record<string, unknown> | undefined} values */
function facts(title, values) {
  const known = Object.entries(values ?? {});
  if (!known.length) return nothing;
  return html`<section><h2>${title}</h2>
    <dl class="facts">${known.map(([name, value]) => html`<div><dt>${partName(name)}</dt><dd>${named("health", String(value), String(value))}</dd></div>`)}</dl></section>`;
}

customElements.define("settings-page", SettingsPage);
