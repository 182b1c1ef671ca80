/** What is chosen for the next questions: where, by what, how long; tells `quoth-choose`. */
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { aboutService } from "../service.js";
import { html, live, nothing } from "../vendor/lit.js";

const SECONDS = [2, 5, 15, 60];
const DOLLARS = [0.01, 0.05, 0.25];
const MODES = ["hybrid", "keyword", "semantic"];

/** @typedef {{collection: string, profile: string, model: boolean, llm: string, mode: string, seconds: number, dollars: number}} Choices */

/** @type {Choices} */
export const DEFAULTS = Object.freeze({ collection: "", profile: "", model: true, llm: "", mode: "", seconds: 0, dollars: 0 });

/** The choice of all collections: no name has a slash. */
export const ALL = "/";
/** Collections that one question may name. */
const MAX_COLLECTIONS = 20;

/** Return the names of the collections that have documents. @param {{name: string, documents: number}[]} collections */
function filled(collections) {
  return collections.filter(({ documents }) => documents).map(({ name }) => name);
}

/**
 * Return the fields of a request for what was chosen.
 * @param {Choices} choices @param {{name: string, documents: number}[]} collections
 */
export function asFields({ collection, profile, model, llm, mode, seconds, dollars }, collections) {
  const place = collection === ALL ? { scope: { collections: filled(collections).slice(0, MAX_COLLECTIONS) } } : collection && { collection };
  return {
    ...place,
    ...(profile && { profile }),
    ...(!model ? { llm: "none" } : llm && { llm }),
    ...(mode && { mode }),
    ...(seconds && { max_ms: seconds * 1000 }),
    ...(dollars && { max_usd: dollars }),
  };
}

/** Return the choices that a stored question was asked with. @param {any} options @param {string} standard the default collection @returns {Choices} */
export function choicesOf({ collections: [name, another], profile, llm, mode, max_ms: limit, max_usd: dollars }, standard) {
  return {
    collection: another ? ALL : name === standard ? "" : name ?? "",
    profile: profile ?? "",
    model: llm !== "none",
    llm: llm && llm !== "none" ? llm : "",
    mode: mode ?? "",
    seconds: Math.round((limit ?? 0) / 1000),
    dollars: dollars ?? 0,
  };
}

/** Return the choices with the only collection that has documents. @param {{name: string, documents: number}[]} collections @param {Choices} choices */
export function fittedTo(collections, choices) {
  const [only, another] = filled(collections);
  return choices.collection || !only || another || only === "default" ? choices : { ...choices, collection: only };
}

class ChoicesPanel extends Base {
  static properties = {
    collections: { attribute: false },
    choices: { attribute: false },
    service: { state: true },
  };

  constructor() {
    super();
    /** @type {{name: string, documents: number}[]} */
    this.collections = [];
    /** @type {Choices} */
    this.choices = DEFAULTS;
    /** @type {import("../service.js").Service | null} null until it is known */
    this.service = null;
  }

  async connectedCallback() {
    super.connectedCallback();
    this.service = await aboutService();
  }

  /** @param {string} name @param {unknown} value */
  choose(name, value) {
    this.tell("quoth-choose", { ...this.choices, [name]: value });
  }

  render() {
    const named = this.collections.filter(({ name }) => name !== "default").map(({ name }) => ({ value: name, text: name }));
    if (filled(this.collections).length > 1) named.unshift({ value: ALL, text: t("choices.all") });
    const { language_model: model = null, profiles = [] } = this.service ?? {};
    return html`<details class="choices"><summary>${t("choices.label")} · ${this.chosen()}</summary><div class="panel">
      ${this.select("collection", t("choices.default"), named)}
      ${profiles.length > 1 ? this.select("profile", profiles[0], profiles.slice(1).map((value) => ({ value, text: value }))) : nothing}
      ${this.select("mode", t("choices.modeDefault"), MODES.map((value) => ({ value, text: t(`choices.${value}`) })))}
      ${this.select("seconds", t("choices.noLimit"), SECONDS.map((value) => ({ value, text: t("choices.upTo", { value: t("choices.secondsValue", { value }) }) })))}
      ${model ? this.written(model) : html`<p class="soft">${t("choices.noModel")}</p>`}
    </div></details>`;
  }

  /** @param {{model: string, local: boolean}} model */
  written({ model, local }) {
    return html`<label class="check"><input type="checkbox" .checked=${live(!this.choices.model)}
        @change=${(/** @type {any} */ event) => this.choose("model", !event.target.checked)}>
        ${t("choices.verbatimHelp", { model })}</label>
      ${this.choices.model ? this.models(model) : nothing}
      ${local || !this.choices.model ? nothing : html`
        ${this.select("dollars", t("choices.noLimit"), DOLLARS.map((value) => ({ value, text: t("choices.upTo", { value: `$${value}` }) })))}
        <p class="soft">${t("choices.leaves", { model })}</p>`}`;
  }

  /** The other language models that a question may name. @param {string} model */
  models(model) {
    const others = this.service?.language_models.filter((each) => !each.endsWith(`:${model}`)) ?? [];
    return others.length ? this.select("llm", model, others.map((value) => ({ value, text: value }))) : nothing;
  }

  /** @param {"collection" | "profile" | "llm" | "mode" | "seconds" | "dollars"} name @param {string} first @param {{value: string | number, text: string}[]} options */
  select(name, first, options) {
    const chosen = this.choices[name];
    const change = (/** @type {any} */ event) => {
      const { value } = event.target;
      this.choose(name, typeof chosen === "number" ? Number(value) : value);
    };
    return html`<label>${t(`choices.${name}`)} <select @change=${change}>
      <option value="" ?selected=${!chosen}>${first}</option>
      ${options.map(({ value, text }) => html`<option value=${value} ?selected=${value === chosen}>${text}</option>`)}</select></label>`;
  }

  chosen() {
    const { collection, profile, model, llm, mode, seconds, dollars } = this.choices;
    return [
      collection === ALL ? t("choices.all") : collection || t("choices.default"),
      profile,
      mode && t(`choices.${mode}`),
      this.service?.language_model && (model && llm ? llm : t(model ? "choices.model" : "choices.verbatim")),
      seconds && t("choices.secondsValue", { value: seconds }),
      dollars && `$${dollars}`,
    ].filter(Boolean).join(" · ");
  }
}

customElements.define("choices-panel", ChoicesPanel);
