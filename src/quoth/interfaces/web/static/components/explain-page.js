/** How an answer came about, and why a passage is not in it. */
import { getJson, postJson, storedAnswer } from "../api.js";
import { Base } from "../base.js";
import { collectionName, language, languageName, named, t } from "../i18n.js";
import { go, linkTo } from "../router.js";
import { placeName } from "../text.js";
import { html, nothing } from "../vendor/lit.js";
import "./replay-view.js";

const LEGS = ["keyword", "semantic", "rerank"];
const SHOWN = 30;
const MAKERS = ["embedder", "reranker", "generator", "judge"];
const dollars = new Intl.NumberFormat(language, { style: "currency", currency: "USD", maximumSignificantDigits: 3 });

/** Order passages by how far they came: the shown, the rest of the pool, the others. @param {any} way @returns {number} */
const progress = ({ shown, pool, fused }) => shown ?? (pool ? 1e6 + pool.rank : 2e6 + fused.rank);

class ExplainPage extends Base {
  static properties = {
    queryId: {},
    found: { state: true },
    missed: { state: true },
    problem: { state: true },
  };

  constructor() {
    super();
    this.queryId = "";
    /** @type {any} */
    this.found = null;
    /** @type {any} */
    this.missed = null;
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has("queryId")) this.load("");
  }

  /** @param {string} words of a passage that was not cited, or none */
  async load(words) {
    const query = words ? `?${new URLSearchParams({ why_not: words })}` : "";
    await this.attempt(async () => {
      const body = await getJson(`/v1/queries/${encodeURIComponent(this.queryId)}/explain${query}`);
      this.found = body.explanation;
      this.missed = body.why_not;
      document.title = `${t("explain.title")} – quoth`;
    });
  }

  /** An answer from the cache has no candidates: ask again without it in the same way, a follow-up by all its words, and explain that. */
  async askAnew() {
    await this.attempt(async () => {
      const { answer: { query: { standalone } }, options: { collections, ...options } } = await storedAnswer(this.queryId);
      const answer = await (await postJson("/v1/query", { query: standalone, ...options, scope: { collections }, cache: "none" })).json();
      go(`/q/${answer.query_id}/explain`, { replace: true });
    });
  }

  /** @param {any} event */
  ask(event) {
    event.preventDefault();
    this.load(event.target.elements.words.value.trim());
  }

  render() {
    return html`<section class="page">
      <p><a href=${linkTo(`/q/${this.queryId}`)}>← ${t("explain.back")}</a></p>
      <h1>${t("explain.title")}</h1>
      ${this.problem ? html`<p class="problem" role="alert">${this.problem}</p>` : nothing}
      ${this.found ? this.sections() : nothing}
    </section>`;
  }

  sections() {
    const { question, understood, notes, searched } = this.found;
    return html`<p class="lead">${question}</p>
      ${this.whyNot()}
      <section><h2>${t("explain.understood")}</h2>
        <dl class="facts">${understood.map((/** @type {string[]} */ [name, value]) => html`<div><dt>${named("understood", name)}</dt><dd>${readable(name, value)}</dd></div>`)}</dl></section>
      ${notes.length ? html`<section><h2>${t("explain.notes")}</h2><ul class="bullets">${notes.map((/** @type {string} */ each) => html`<li>${each}</li>`)}</ul></section>` : nothing}
      ${searched.map((/** @type {any} */ each) => this.candidates(each))}
      ${this.stages()}
      ${this.made()}
      <replay-view .queryId=${this.queryId}></replay-view>
      <p><a href=${linkTo(`/compare?${new URLSearchParams({ question })}`)}>${t("explain.compare")}</a></p>`;
  }

  whyNot() {
    const passages = this.missed?.passages ?? [];
    if (!this.found.searched.length) {
      return html`<section><h2>${t("explain.whyNot")}</h2><p>${t("explain.cached")}</p>
        <button @click=${this.askAnew}>${t("explain.askAnew")}</button></section>`;
    }
    return html`<section><h2>${t("explain.whyNot")}</h2>
      <form class="inline" @submit=${this.ask}>
        <label>${t("explain.words")}<input name="words" minlength="3" maxlength="1000" required></label>
        <button>${t("explain.ask")}</button>
      </form>
      <div role="status">${this.missed ? this.missed.notes.map((/** @type {string} */ each) => html`<p>${each}</p>`) : nothing}
        <ul class="list">${passages.map((/** @type {any} */ each) => html`<li><div class="grow">${source(each.at)}<blockquote>${each.at.text}</blockquote>
          <p>${named("fate", each.reason, each.why)}</p></div></li>`)}</ul></div></section>`;
  }

  /** @param {any} search */
  candidates({ collection, found, ways }) {
    return html`<section><h2>${t("explain.candidates", { collection: collectionName(collection), found })}</h2>
      <table class="table"><thead><tr><th scope="col">${t("explain.passage")}</th>
        ${LEGS.map((each) => html`<th scope="col" class="wide">${t(`explain.${each}`)}</th>`)}
        <th scope="col">${t("explain.fate")}</th></tr></thead>
      <tbody>${[...ways].sort((a, b) => progress(a) - progress(b)).slice(0, SHOWN).map((/** @type {any} */ way) => html`<tr>
        <td>${source(way.at)}<br><small>${way.at.text}</small></td>
        ${LEGS.map((each) => html`<td class="wide">${way.legs[each]?.rank ?? "–"}</td>`)}
        <td>${named("fate", way.fate, way.why)}</td></tr>`)}</tbody></table></section>`;
  }

  /** The models that took part, and what they cost. */
  made() {
    const { makers, answer: { usage } } = this.found;
    const took = makers.filter((/** @type {string[]} */ [name]) => MAKERS.includes(name));
    const spent = { read: usage.input_tokens, written: usage.output_tokens, cost: dollars.format(usage.usd) };
    const paid = usage.input_tokens || usage.output_tokens || usage.usd;
    return html`<section><h2>${t("explain.made")}</h2>
      <dl class="facts">${took.map((/** @type {string[]} */ [name, value]) => html`<div><dt>${named("part", name)}</dt><dd>${value}</dd></div>`)}
        <div><dt>${t("explain.cost")}</dt><dd>${t(paid ? "explain.paid" : "explain.free", spent)}</dd></div></dl></section>`;
  }

  stages() {
    const { stages, total_ms: total } = this.found;
    const most = Math.max(1, total);
    return html`<section><h2>${t("explain.stages")}</h2><p class="soft">${t("explain.total", { total: Math.round(total) })}</p>
      <table class="table"><thead><tr><th scope="col">${t("explain.stage")}</th><th scope="col">${t("explain.spent")}</th>
        <td class="wide"></td></tr></thead>
      <tbody>${stages.filter((/** @type {any} */ each) => each.spent_ms).map((/** @type {any} */ each) => html`<tr><td>${named("stage", each.name)}</td><td>${each.spent_ms.toFixed(1)}</td>
        <td class="wide">${each.start_ms === null ? nothing : html`<svg class="timeline" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
          <rect x=${(100 * each.start_ms) / most} width=${Math.max(0.5, (100 * (each.end_ms - each.start_ms)) / most)} height="4"></rect></svg>`}</td></tr>`)}</tbody></table></section>`;
  }
}

/** Name where a passage stands, and lead to it. @param {any} at */
function source({ document, document_id: id, start, end, locator }) {
  if (!id) return html`<span class="soft">${t("replay.gone")}</span>`;
  return html`<a href=${linkTo(`/d/${id}?start=${start}&end=${end}`)}>${document}</a> <span class="place">${placeName(locator, t)}</span>`;
}

/** Return a value of how the question was read for people. @param {string} name @param {string} value */
function readable(name, value) {
  if (name === "language") return value ? languageName(value) : "–";
  if (name === "kind") return value.split(", ").map((each) => named("question", each)).join(", ");
  return value;
}

customElements.define("explain-page", ExplainPage);
