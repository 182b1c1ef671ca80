/** The citations of a live session by window, the newest first. Tells `quoth-open` with the id of a citation. */
import { Base } from "../base.js";
import { dateName, t } from "../i18n.js";
import { EMPTY, groups } from "../live.js";
import { linkTo } from "../router.js";
import { around, clock, cut, lengthOf, placeName } from "../text.js";
import { html, nothing, repeat } from "../vendor/lit.js";

const MAX_SNIPPET = 150;
const SOME_WINDOWS = 3;

class LivePanel extends Base {
  static properties = {
    state: { attribute: false },
    empty: { type: Boolean },
    words: { state: true },
  };

  constructor() {
    super();
    /** @type {import("../live.js").Live} */
    this.state = EMPTY;
    /** whether there are no documents to cite */
    this.empty = false;
    this.words = "";
  }

  /** Scroll to a card and let it pulse. @param {string} id */
  async reveal(id) {
    if (!this.querySelector(`#card-${id}`)) this.words = "";
    await this.updateComplete;
    const card = /** @type {HTMLElement | null} */ (this.querySelector(`#card-${id}`));
    if (!card) return;
    card.focus({ preventScroll: true });
    card.scrollIntoView({ block: "nearest" });
    card.classList.remove("pulse");
    void card.offsetWidth; // begins the animation again
    card.classList.add("pulse");
  }

  render() {
    const { state, words } = this;
    const count = groups(state).reduce((sum, { citations }) => sum + citations.length, 0);
    const shown = groups(state, words);
    return html`<div class="row"><h2>${t("live.citations")}</h2>
        <span class="badge" role="status" aria-label=${t("live.count", { count })}>${count}</span><span class="grow"></span>
        <input type="search" aria-label=${t("live.filter")} placeholder=${t("live.filter")} .value=${words} @input=${(/** @type {any} */ event) => { this.words = event.target.value; }}></div>
      <div class="live-cards" role="region" tabindex="0" aria-label=${t("live.citations")}>
        <p class="status busy" role="status" ?hidden=${!state.slow}>${state.slow ? t("live.finding") : ""}</p>
        ${count ? nothing : this.nothingYet()}
        ${count && !shown.length ? html`<p class="soft">${t("live.noMatch")}</p>` : nothing}
        ${repeat(shown, (window) => window.index, (window) => html`<section class="window" aria-label=${this.nameOf(window)}>
          <h3 class="place">${this.nameOf(window)}</h3>
          ${repeat(window.citations, (citation) => citation.id, (citation) => this.card(citation))}
        </section>`)}
      </div>`;
  }

  /** @param {import("../live.js").Window} window */
  nameOf({ index, start }) {
    return start === null ? t("live.now") : t("live.window", { number: index + 1, time: clock(start) });
  }

  nothingYet() {
    if (this.empty) return html`<p class="soft">${t("live.noDocuments")} <a href=${linkTo("/library")}>${t("live.upload")}</a></p>`;
    const some = Object.keys(this.state.windows).length >= SOME_WINDOWS;
    return html`<p class="soft">${t(some ? "live.noneFound" : "live.soon")}</p>`;
  }

  /** @param {any} citation */
  card(citation) {
    const { id, rank, snippet, section_heading: heading, created_at: created } = citation;
    const place = placeName(citation.locator, t);
    const [before, marked, after] = around(snippet, citation.marked);
    const [whole, mark] = marked && lengthOf(snippet) > MAX_SNIPPET ? [marked, false] : [before + marked + after, !!marked];
    const text = lengthOf(whole) > MAX_SNIPPET ? `${cut(whole, 0, MAX_SNIPPET).replace(/\s+\S*$/, "")} …` : whole;
    return html`<article id="card-${id}" class="card" tabindex="-1">
      <h4><span class="number rank-${rank}">${rank}</span> <span class="grow">${citation.document_name}</span></h4>
      <p class="place">${place}${heading && !place.includes(heading) ? ` · ${heading}` : nothing}</p>
      <blockquote dir="auto">${mark && text === whole ? html`${before}<mark>${marked}</mark>${after}` : text}</blockquote>
      ${citation.stale ? html`<p class="tag">${t("live.stale")}</p>` : nothing}
      <p class="row"><time class="soft grow" datetime=${created}>${dateName(created)}</time>
        <button aria-label=${`${t("live.view")}: ${citation.document_name}, ${place}`} @click=${() => this.tell("quoth-open", id)}>${t("live.view")}</button></p>
    </article>`;
  }
}

customElements.define("live-panel", LivePanel);
