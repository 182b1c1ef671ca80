/** A live session: `/live/ID`, for a second screen with `?view=presenter`, for an audience with `#share=TOKEN`. */
import { getJson, postJson, Problem, send } from "../api.js";
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { EMPTY, groups, isBehind, reduceLive } from "../live.js";
import { linkTo } from "../router.js";
import { isSharedVisit, tokenIn } from "../shares.js";
import { readEvents } from "../sse.js";
import { html, nothing } from "../vendor/lit.js";
import "./live-controls.js";
import "./live-panel.js";
import "./live-question.js";
import "./live-transcript.js";
import "./proof-pane.js";

const AGAIN_MS = 2000;
const QUIET_MS = 5000;

class LivePage extends Base {
  static properties = {
    route: { attribute: false },
    state: { state: true },
    scopes: { state: true },
    collections: { state: true },
    unlocked: { state: true },
    translates: { state: true },
    opened: { state: true },
    lost: { state: true },
    problem: { state: true },
  };

  constructor() {
    super();
    /** @type {import("../router.js").Route} */
    this.route = { page: "live", id: "", mark: "", question: "", start: 0, end: null, view: "" };
    this.state = EMPTY;
    /** what the visitor may do @type {string[]} */
    this.scopes = [];
    /** @type {any[] | null} those there are, null where they cannot be seen */
    this.collections = null;
    /** whether the service needs no key */
    this.unlocked = false;
    /** whether a language model may translate: an audience cannot know it */
    this.translates = false;
    /** the citation whose page is shown */
    this.opened = "";
    this.lost = false;
    /** whether no event has come for a while */
    this.quiet = false;
    this.leaving = new AbortController();
    this.addEventListener("quoth-cite", (event) => {
      /** @type {any} */ (this.querySelector("live-panel")).reveal(/** @type {CustomEvent} */ (event).detail);
    });
    this.addEventListener("quoth-open", (event) => { this.opened = /** @type {CustomEvent} */ (event).detail; });
    this.addEventListener("quoth-close", () => { this.opened = ""; });
    this.addEventListener("quoth-walk", (event) => { this.opened = this.items[/** @type {CustomEvent} */ (event).detail].mark; });
    this.addEventListener("quoth-lecture", (event) => { this.state = { ...this.state, lecture: /** @type {CustomEvent} */ (event).detail }; });
    this.addEventListener("quoth-lost", (event) => { this.lost = /** @type {CustomEvent} */ (event).detail; });
    this.addEventListener("quoth-added", () => this.loadCollections());
  }

  get path() {
    return `/v1/sessions/${encodeURIComponent(this.route.id)}`;
  }

  get items() {
    return groups(this.state).flatMap(({ citations }) => citations.map((item) => ({ mark: item.id, item })));
  }

  /** Whether the visitor may keep what was said, and ask it. */
  get mayAsk() {
    return this.state.segments.length > 0 && ["live", "ingest", "read"].every((scope) => this.scopes.includes(scope));
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.leaving.abort();
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has("route") && /** @type {any} */ (changed.get("route"))?.id !== this.route.id) this.follow();
  }

  async follow() {
    this.leaving.abort();
    this.leaving = new AbortController();
    this.state = EMPTY;
    const { signal } = this.leaving;
    try {
      await this.enter();
      while (!signal.aborted && this.state.lecture?.state !== "ended") {
        await this.read(signal).catch((error) => {
          if (signal.aborted || (error instanceof Problem && error.status >= 400 && error.status < 500)) throw error;
        });
        if (this.state.lecture?.state === "ended") return;
        this.lost = true;
        await new Promise((resolve) => { setTimeout(resolve, AGAIN_MS); });
      }
    } catch (error) {
      if (!signal.aborted) this.fail(error);
    }
  }

  /** A session that was shown and is no longer there was deleted. @param {unknown} error */
  fail(error) {
    const deleted = this.state.lecture && error instanceof Problem && error.status === 404;
    this.problem = deleted ? t("live.deleted") : /** @type {Error} */ (error).message;
    if (deleted) this.state = EMPTY;
  }

  /** An audience comes with a token, which is exchanged for a cookie unless the visitor may follow already. */
  async enter() {
    const token = tokenIn(this.route.mark);
    const session = await getJson("/v1/session");
    const { tenant, scopes } = session;
    this.unlocked = !session.key_needed;
    const known = !token || (tenant && (await getJson(this.path).then(() => true, () => false)));
    if (token && !known) await postJson("/v1/session", { key: token });
    this.scopes = token || (this.unlocked && isSharedVisit(session)) ? [] : scopes;
    if (this.scopes.includes("read")) await this.loadCollections();
  }

  async loadCollections() {
    this.collections = (await getJson("/v1/collections")).collections;
  }

  /** Show what there is, then what happens, until the connection or the session ends. @param {AbortSignal} signal */
  async read(signal) {
    const snapshot = await getJson(this.path, { signal });
    this.lost = false;
    this.translates = snapshot.translates;
    this.state = reduceLive(this.state, { ...snapshot, event: "snapshot" });
    document.title = `${snapshot.session.title} – quoth`;
    if (snapshot.session.state === "ended") return;
    const response = await send(`${this.path}/events`, { headers: { "last-event-id": String(snapshot.last_event_id) }, signal });
    const timer = setInterval(() => this.catchUp(signal), QUIET_MS);
    try {
      for await (const { event, data } of readEvents(response)) {
        this.quiet = false;
        this.state = reduceLive(this.state, { ...data, event });
      }
    } finally {
      clearInterval(timer);
    }
  }

  /** A session that `quoth live` runs tells no events here: after a quiet time, show what is stored. @param {AbortSignal} signal */
  async catchUp(signal) {
    if (this.quiet && this.state.lecture?.state === "open") {
      const snapshot = await getJson(this.path, { signal }).catch(() => null);
      if (snapshot && this.quiet && isBehind(this.state, snapshot)) this.state = reduceLive(this.state, { ...snapshot, event: "snapshot" });
    }
    this.quiet = true;
  }

  render() {
    const { lecture } = this.state;
    if (!lecture) {
      return html`<section class="page"><h1>${t("live.title")}</h1>${this.problem
        ? html`<p class="problem" role="alert">${this.problem}</p>` : html`<p class="soft">${t("loading")}</p>`}</section>`;
    }
    const presenter = this.route.view === "presenter";
    const { items } = this;
    const at = items.findIndex(({ mark }) => mark === this.opened);
    return html`<section class="live ${presenter ? "presenter" : ""}">
      <div class="live-head">
        <div class="row"><h1 class="grow">${lecture.title}</h1>
          <span class="badge ${lecture.state}">${t(`live.${lecture.state}`)}</span>
          ${presenter ? html`<a class="button" href=${linkTo(`/live/${this.route.id}`)}>${t("live.leave")}</a>` : nothing}</div>
        ${presenter ? nothing : html`<live-controls .lecture=${lecture} .state=${this.state} .scopes=${this.scopes} .collections=${this.collections} .unlocked=${this.unlocked}></live-controls>`}
        ${presenter || !this.mayAsk ? nothing : html`<live-question .lecture=${lecture}></live-question>`}
        ${this.speech()}
        ${this.lost ? html`<p class="status problem" role="status">${t("live.lost")}</p>` : nothing}
        ${this.problem ? html`<p class="problem" role="alert">${this.problem}</p>` : nothing}
      </div>
      <live-transcript .state=${this.state} .path=${this.path} .translates=${this.translates}></live-transcript>
      <live-panel .state=${this.state} .empty=${this.hasNoDocuments(lecture)}></live-panel>
      ${at < 0 ? nothing : html`<proof-pane modal .quoted=${!this.scopes.includes("read")} .items=${items} .at=${at}></proof-pane>`}
    </section>`;
  }

  /** Everybody who follows the session sees that it is transcribed. */
  speech() {
    const { state, model, lag_s: lag, message } = this.state.speech;
    if (state === "off") return nothing;
    if (state === "failed") return html`<p class="status problem" role="status">${message}</p>`;
    return html`<p class="status transcribed" role="status">${t("microphone.banner")}
      ${state === "starting" ? t("microphone.starting") : nothing}
      ${state === "lagging" ? t("microphone.lagging", { lag, model }) : nothing}</p>`;
  }

  /** @param {any} lecture */
  hasNoDocuments({ collections, documents }) {
    if (documents.length) return false;
    const attached = this.collections?.filter(({ name }) => collections.includes(name));
    return !collections.length || (attached?.every(({ documents }) => !documents) ?? false);
  }
}

customElements.define("live-page", LivePage);
