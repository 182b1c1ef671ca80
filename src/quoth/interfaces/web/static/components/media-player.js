/**
 * The recording of a talk at a second: the service's own file, or YouTube's player where that is
 * allowed and asked for. Tells `quoth-time` with the second that is played.
 */
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { linkTo } from "../router.js";
import { aboutService } from "../service.js";
import { html, nothing } from "../vendor/lit.js";

const VIDEO = /^https:\/\/www\.youtube\.com\/watch\?v=([\w-]{11})(?:&|$)/;

class MediaPlayer extends Base {
  static properties = {
    documentId: {},
    media: {},
    seconds: { type: Number },
    link: {},
    embed: { state: true },
  };

  constructor() {
    super();
    this.documentId = "";
    /** the media type of the recording, "" without one */
    this.media = "";
    this.seconds = 0;
    /** the web address of the talk */
    this.link = "";
    /** the address of the embedded player once it is asked for */
    this.embed = "";
    this.allowed = false;
  }

  get address() {
    return linkTo(`/v1/documents/${encodeURIComponent(this.documentId)}/media`);
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has("documentId")) this.look();
    if (changed.has("seconds") && this.embed) this.play(this.seconds);
  }

  /** @param {Map<string, unknown>} changed */
  updated(changed) {
    if (changed.has("seconds") || changed.has("media")) this.seek(this.seconds);
  }

  async look() {
    this.embed = "";
    this.allowed = (await aboutService()).youtube_player;
    this.requestUpdate();
  }

  /** Show YouTube's player at a second. @param {number} seconds */
  play(seconds) {
    const video = VIDEO.exec(this.link ?? "")?.[1];
    if (video) this.embed = linkTo(`/youtube/${video}?start=${Math.floor(seconds)}`);
  }

  /** @param {number} seconds */
  seek(seconds) {
    const player = /** @type {HTMLMediaElement | null} */ (this.querySelector("video, audio"));
    if (player) player.currentTime = seconds;
    else if (this.embed) this.play(seconds);
  }

  render() {
    const label = t("proof.recording");
    const tell = (/** @type {any} */ event) => {
      if (!event.target.paused) this.tell("quoth-time", event.target.currentTime);
    };
    if (this.media.startsWith("video/")) return html`<video controls preload="metadata" aria-label=${label} src=${this.address} @timeupdate=${tell}></video>`;
    if (this.media.startsWith("audio/")) return html`<audio controls preload="metadata" aria-label=${label} src=${this.address} @timeupdate=${tell}></audio>`;
    if (this.embed) return html`<iframe class="youtube" title=${label} src=${this.embed} allow="fullscreen; encrypted-media; picture-in-picture"></iframe>`;
    if (!this.allowed || !VIDEO.test(this.link ?? "")) return nothing;
    return html`<p class="row"><button @click=${() => this.play(this.seconds)}>${t("proof.youtube")}</button>
      <span class="soft">${t("proof.youtubeNote")}</span></p>`;
  }
}

customElements.define("media-player", MediaPlayer);
