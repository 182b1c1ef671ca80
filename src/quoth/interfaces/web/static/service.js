/** What the service offers, asked for once: its model, its limits, and what is switched on. */
import { getJson } from "./api.js";

/**
 * @typedef {object} Service
 * @property {{provider: string, model: string, local: boolean} | null} language_model
 * @property {string} collection   the default one
 * @property {number} max_upload_mb
 * @property {boolean} web_pages   whether it fetches addresses
 * @property {boolean} youtube_player
 * @property {boolean} sample
 * @property {string | null} public_url where its users reach it, null where that is not set
 * @property {string[]} language_models those that a question may name
 * @property {string[]} profiles  the same, the one in use first
 */

/** @type {Service} What is shown until it is known, or where it cannot be asked. */
const NOTHING = Object.freeze({
  language_model: null,
  collection: "",
  max_upload_mb: 0,
  web_pages: false,
  youtube_player: false,
  sample: false,
  public_url: null,
  language_models: [],
  profiles: [],
});

/** @type {Promise<Service> | null} */
let known = null;

/** @returns {Promise<Service>} */
export function aboutService() {
  known ??= getJson("/v1/service").catch(() => {
    known = null;
    return NOTHING;
  });
  return known;
}

window.addEventListener("quoth-signed-out", () => {
  known = null;
});
