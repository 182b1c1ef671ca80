/** The recording of a talk at a second, where the service has its file. */
import { Base } from "../base.js";
import { t } from "../i18n.js";
import { html, nothing } from "../vendor/lit.js";

class MediaPlayer extends Base {
  static properties = {
    documentId: {},
    seconds: { type: Number },
    kind: { state: true },
  };

  constructor() {
    super();
    this.documentId = "";
    this.seconds = 0;
    this.kind = "";
  }

  get address() {
    return `/v1/documents/${encodeURIComponent(this.documentId)}/media`;
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has("documentId")) this.look();
  }

  /** @param {Map<string, unknown>} changed */
  updated(changed) {
    if (changed.has("seconds") || changed.has("kind")) this.seek(this.seconds);
  }

  async look() {
    this.kind = "";
    const first = { headers: { range: "bytes=0-0" }, credentials: /** @type {const} */ ("same-origin") };
    const response = await fetch(this.address, first).catch(() => null);
    if (response?.ok) this.kind = (response.headers.get("content-type") ?? "").split("/")[0];
    await response?.body?.cancel();
  }

  /** @param {number} seconds */
  seek(seconds) {
    const player = /** @type {HTMLMediaElement | null} */ (this.querySelector("video, audio"));
    if (player) player.currentTime = seconds;
  }

  render() {
    const label = t("proof.recording");
    if (this.kind === "video") return html`<video controls preload="metadata" aria-label=${label} src=${this.address}></video>`;
    if (this.kind === "audio") return html`<audio controls preload="metadata" aria-label=${label} src=${this.address}></audio>`;
    return nothing;
  }
}

customElements.define("media-player", MediaPlayer);
