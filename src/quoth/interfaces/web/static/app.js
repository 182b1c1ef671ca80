/** The frame of the app: navigation, the page that the address selects, sign-in and help. */
import { getJson, postJson, send } from "./api.js";
import { Base } from "./base.js";
import { forgetAnswers } from "./conversation.js";
import { language, t } from "./i18n.js";
import { watchMenus } from "./menus.js";
import { NAVIGATION, PAGES } from "./pages.js";
import { go, linkTo, pathIn, routeOf } from "./router.js";
import { beginSharedVisit, hasBegunShared, isSharedVisit, tokenIn } from "./shares.js";
import { html, nothing } from "./vendor/lit.js";
import "./components/key-help.js";
import "./components/sign-in.js";

class App extends Base {
  static properties = { route: { state: true }, session: { state: true }, signedOut: { state: true }, failed: { state: true }, entering: { state: true } };

  constructor() {
    super();
    this.route = routeOf(location.href);
    /** who visits, undefined until it is known @type {any} */
    this.session = undefined;
    this.signedOut = false;
    this.failed = false;
    /** whether the address of a shared collection is being opened */
    this.entering = false;
    /** why it could not be opened */
    this.refused = "";
    document.documentElement.lang = language;
  }

  /** What the page shows until the modules are there makes room. */
  createRenderRoot() {
    this.replaceChildren();
    return this;
  }

  connectedCallback() {
    super.connectedCallback();
    const navigated = () => {
      this.route = routeOf(location.href);
      this.failed = false;
    };
    window.addEventListener("popstate", navigated);
    window.addEventListener("quoth-navigated", navigated);
    window.addEventListener("quoth-page-failed", () => {
      this.failed = true;
    });
    window.addEventListener("quoth-signed-out", () => {
      forgetAnswers();
      this.signedOut = true;
    });
    this.addEventListener("quoth-signed-in", () => {
      this.signedOut = false;
      this.identify();
    });
    watchMenus();
    document.addEventListener("click", followLink);
    document.addEventListener("keydown", (event) => this.onKey(event));
    const token = tokenIn(this.route.mark);
    if (token) beginSharedVisit();
    if (token && this.route.page !== "live") this.enter(token);
    else this.identify();
  }

  async identify() {
    this.session = await getJson("/v1/session").catch(() => null);
  }

  /** Exchange the token of a shared collection for a cookie, unless the visitor has a key. @param {string} token */
  async enter(token) {
    this.entering = true;
    try {
      const { tenant, collection, key_needed: needed } = await getJson("/v1/session");
      if (!tenant || collection !== null) await postJson("/v1/session", { key: token });
      // Where no key is needed yet, the cookie counts from the first key on.
      else if (!needed) await postJson("/v1/session", { key: token }).catch(() => {});
      go("/", { replace: true });
    } catch (error) {
      this.refused = /** @type {Error} */ (error).message;
      this.signedOut = true;
    }
    await this.identify();
    this.entering = false;
  }

  /** What the navigation offers: a shared address opens its collection or its live session alone. */
  get links() {
    if (this.entering || (this.route.page === "live" && tokenIn(this.route.mark))) return [];
    if (this.session === undefined) return hasBegunShared() ? [] : NAVIGATION;
    if (!isSharedVisit(this.session)) return NAVIGATION;
    const { key_needed: needed, scopes } = this.session;
    // Before the first key nothing limits the library to the shared collection.
    const names = needed ? ["ask", "library"] : ["ask"];
    return scopes.includes("read") ? NAVIGATION.filter(({ name }) => names.includes(name)) : [];
  }

  async signOut() {
    await send("/v1/session", { method: "DELETE" });
    this.session = null;
    window.dispatchEvent(new CustomEvent("quoth-signed-out"));
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const at = /** @type {HTMLElement} */ (event.target);
    const typing = at.matches?.("input, textarea, select") || at.isContentEditable;
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "?") /** @type {any} */ (this.querySelector("key-help")).open();
    if (event.key === "/") this.focusQuestion(event);
  }

  /** @param {KeyboardEvent} event */
  async focusQuestion(event) {
    event.preventDefault();
    if (this.route.page !== "ask") go("/");
    await this.updateComplete;
    /** @type {HTMLElement | null} */ (this.querySelector("ask-box textarea"))?.focus();
  }

  render() {
    return html`
      <a class="skip" href="#main">${t("nav.skip")}</a>
      <header class="top">
        <a class="brand" href=${linkTo("/")}>quoth</a>
        <nav aria-label=${t("nav.label")}>
          ${this.links.map(({ name, link }) => {
            const current = this.route.page === name ? "page" : "false";
            return html`<a href=${linkTo(link)} aria-current=${current}>${t(`nav.${name}`)}</a>`;
          })}
        </nav>
        ${this.session?.key_needed && isSharedVisit(this.session) ? html`<button class="quiet" @click=${this.signOut}>${t("signin.out")}</button>` : nothing}
      </header>
      <main id="main" tabindex="-1">${this.page()}</main>
      <key-help></key-help>`;
  }

  page() {
    if (this.entering) return html`<p class="page soft">${t("loading")}</p>`;
    if (this.signedOut) return html`<sign-in .problem=${this.refused}></sign-in>`;
    if (this.failed) {
      return html`<p class="page problem" role="alert">${t("page.failed")}
        <button @click=${() => location.reload()}>${t("page.reload")}</button></p>`;
    }
    const shown = PAGES[this.route.page]?.show(this.route);
    return shown ?? this.unknown();
  }

  unknown() {
    const links = this.links.filter(({ name }) => ["ask", "library"].includes(name));
    return html`<section class="page"><h1>${t("page.unknown")}</h1>
      <p class="lead">${t("page.unknownLead")}</p>
      <p class="row">${links.map(({ name, link }) => html`<a class="button" href=${linkTo(link)}>${t(`nav.${name}`)}</a>`)}</p></section>`;
  }
}

/** Links within the app change the page without loading it again. @param {MouseEvent} event */
function followLink(event) {
  if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
  const link = /** @type {HTMLElement} */ (event.target).closest?.("a[href]");
  if (!(link instanceof HTMLAnchorElement) || link.target || link.hasAttribute("download")) return;
  const path = link.origin === location.origin ? pathIn(link.pathname) : "";
  if (!path || /^\/(v1|static|openapi|pdf|youtube)/.test(path) || link.getAttribute("href")?.startsWith("#")) return;
  event.preventDefault();
  go(path + link.search + link.hash);
}

customElements.define("quoth-app", App);
