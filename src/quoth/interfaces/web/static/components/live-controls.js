/** What a speaker does in a session: speak, replay a recording, attach documents, share, end; and what everybody may save. */
import { postJson } from "../api.js";
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { EMPTY } from "../live.js";
import { linkTo } from "../router.js";
import { shareAddress } from "../shares.js";
import { isCollectionName } from "../text.js";
import { html, nothing } from "../vendor/lit.js";
import "./live-documents.js";
import "./live-microphone.js";
import "./live-replay.js";
import "./share-note.js";

const FORMATS = ["vtt", "md", "html"];

class LiveControls extends Base {
  static properties = {
    lecture: { attribute: false },
    state: { attribute: false },
    scopes: { attribute: false },
    collections: { attribute: false },
    unlocked: { type: Boolean },
    shared: { state: true },
    keeping: { state: true },
    problem: { state: true },
  };

  constructor() {
    super();
    /** @type {any} */
    this.lecture = null;
    this.state = EMPTY;
    /** @type {string[]} */
    this.scopes = [];
    /** @type {any[] | null} */
    this.collections = null;
    /** whether the service needs no key */
    this.unlocked = false;
    /** the address for an audience */
    this.shared = "";
    /** whether the transcript is being added to the documents */
    this.keeping = false;
  }

  get path() {
    return `/v1/sessions/${this.lecture.session_id}`;
  }

  share() {
    return this.attempt(async () => {
      const { token } = await (await postJson(`${this.path}/share`, {})).json();
      this.shared = await shareAddress(`/live/${this.lecture.session_id}`, token);
    });
  }

  end() {
    if (!window.confirm(t("live.confirmEnd"))) return;
    this.attempt(async () => { this.tell("quoth-lecture", await (await postJson(`${this.path}/end`, {})).json()); });
  }

  render() {
    const open = this.lecture.state === "open";
    const speaks = this.scopes.includes("live");
    return html`<div class="row">
        ${speaks && open ? html`<live-documents .lecture=${this.lecture} .collections=${this.collections} .uploads=${this.scopes.includes("ingest")}></live-documents>
          <button @click=${this.share}>${t("live.share")}</button>` : nothing}
        <a class="button" href=${linkTo(`/live/${this.lecture.session_id}?view=presenter${location.hash}`)} target="_blank">${t("live.presenter")}</a>
        <details class="menu"><summary class="button">${t("answer.export")}</summary><div class="panel">
          ${FORMATS.map((format) => html`<a download href=${linkTo(`${this.path}/export?format=${format}`)}>${t(`live.${format}`)}</a>`)}</div></details>
        ${speaks && open ? html`<button @click=${this.end}>${t("live.end")}</button>
          <live-microphone .path=${this.path} .language=${this.lecture.language} .speech=${this.state.speech}></live-microphone>
          <live-replay .path=${this.path} .state=${this.state}></live-replay>` : nothing}
        ${open ? nothing : this.talk()}
      </div>
      <div role="status"><share-note .address=${this.shared} .promise=${t("live.shared")} .open=${this.unlocked}></share-note></div>
      ${this.problem ? html`<p class="problem" role="alert">${this.problem}</p>` : nothing}`;
  }

  /** @param {any} event */
  keep(event) {
    event.preventDefault();
    this.keeping = true;
    const collection = event.target.elements.collection.value.trim();
    this.attempt(async () => {
      if (!isCollectionName(collection)) throw new Error(t("library.slash"));
      this.tell("quoth-lecture", await (await postJson(`${this.path}/talk`, { collection })).json());
    }).finally(() => { this.keeping = false; });
  }

  talk() {
    const { document_id: id } = this.lecture;
    if (id && this.scopes.includes("read")) return html`<a class="button" href=${linkTo(`/d/${id}`)}>${t("live.openTalk")}</a>`;
    if (!this.scopes.includes("live") || !this.scopes.includes("ingest")) return nothing;
    return html`<details class="menu"><summary class="button">${t("live.keep")}</summary>
      <form class="panel" @submit=${this.keep}><label>${t("choices.collection")}<input name="collection" value="talks" maxlength="100" required></label>
        <button ?disabled=${this.keeping}>${t("live.keep")}</button></form></details>`;
  }
}

customElements.define("live-controls", LiveControls);
