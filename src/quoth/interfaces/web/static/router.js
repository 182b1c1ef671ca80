/**
 * Addresses of the app.
 * @typedef {{page: string, id: string, mark: string, question: string, start: number, end: number | null, view: string, collection?: string}} Route
 */

/** What the addresses of the service begin with behind a proxy, "" at the root. */
const BASE = new URL(import.meta.url).pathname.replace(/\/static\/[^/]+\/router\.js$/, "");

/** Return the address of a path of the service; other addresses stay as they are. @param {string} path */
export function linkTo(path) {
  return path.startsWith("/") ? BASE + path : path;
}

/** Return the path in the service that an address below its base has, "" for others. @param {string} path */
export function pathIn(path) {
  return `${path}/`.startsWith(`${BASE}/`) ? path.slice(BASE.length) || "/" : "";
}

/** Return what an address shows. @param {string} address @returns {Route} */
export function routeOf(address) {
  const url = new URL(address);
  const [first = "", id = "", more = ""] = pathIn(url.pathname).split("/").slice(1).map(decode);
  const end = url.searchParams.get("end");
  const common = {
    id,
    mark: url.hash.slice(1),
    question: url.searchParams.get("question") ?? "",
    start: Number(url.searchParams.get("start")) || 0,
    view: url.searchParams.get("view") ?? "",
    collection: url.searchParams.get("collection") ?? "",
    end: end === null ? null : Number(end) || null,
  };
  if (first === "q") return { ...common, page: more || "ask" };
  return { ...common, page: first || "ask" };
}

/** @param {string} part */
function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Return whether a path is a live session's, whose page alone may use the microphone. @param {string} path */
function hasMicrophone(path) {
  return /^\/live\/[^/]/.test(path);
}

/** Go to a path of the app. @param {string} path @param {{replace?: boolean, state?: unknown}} [options] */
export function go(path, { replace = false, state = null } = {}) {
  // A page keeps the permissions that it was loaded with.
  if (hasMicrophone(path) !== hasMicrophone(pathIn(location.pathname))) {
    location[replace ? "replace" : "assign"](linkTo(path));
    return;
  }
  history[replace ? "replaceState" : "pushState"](state, "", linkTo(path));
  window.dispatchEvent(new CustomEvent("quoth-navigated"));
}
