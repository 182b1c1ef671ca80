/** Addresses that open a collection or a live session for others, and visits that began with one. */
import { getJson } from "./api.js";
import { linkTo } from "./router.js";
import { aboutService } from "./service.js";

const VISIT = "quoth-shared";

/** Return the token in the part of an address behind "#", "" where there is none. @param {string} mark */
export function tokenIn(mark) {
  return /^share=(.+)$/.exec(mark)?.[1] ?? "";
}

/** Return the address that opens a path of the app with a token. @param {string} path @param {string} token */
export async function shareAddress(path, token) {
  const base = (await aboutService()).public_url ?? location.origin + linkTo("/");
  return `${base.replace(/\/$/, "")}${path}#share=${token}`;
}

/** Return whether only this machine can open an address. @param {string} address */
export function isOfThisMachine(address) {
  return /^(localhost|.+\.localhost|127\.[\d.]+|\[::1\])$/.test(new URL(address).hostname);
}

/** Keep for this tab that it was opened by a shared address. */
export function beginSharedVisit() {
  sessionStorage.setItem(VISIT, "1");
}

/** Return whether this tab was opened by a shared address. */
export function hasBegunShared() {
  return sessionStorage.getItem(VISIT) !== null;
}

/** Return whether a visitor has a shared address alone: before the first key, only the tab knows it. @param {any} session */
export function isSharedVisit(session) {
  return !!session && (session.collection !== null || (!session.key_needed && hasBegunShared()));
}

/**
 * Return whether this visitor has a shared address alone, or may not read: they cannot read stored answers.
 * Where the service does not say who visits, only the tab knows it.
 */
export async function isGuest() {
  const session = await getJson("/v1/session").catch(() => null);
  if (!session) return hasBegunShared();
  return !session.scopes.includes("read") || isSharedVisit(session);
}
