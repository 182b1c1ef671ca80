/**
 * Addresses of the app.
 * @typedef {{page: string, id: string, mark: string, question: string, start: number, end: number | null, view: string}} Route
 */

/** Return what an address shows. @param {string} address @returns {Route} */
export function routeOf(address) {
  const url = new URL(address);
  const [first = "", id = "", more = ""] = url.pathname.split("/").slice(1).map(decode);
  const end = url.searchParams.get("end");
  const common = {
    id,
    mark: url.hash.slice(1),
    question: url.searchParams.get("question") ?? "",
    start: Number(url.searchParams.get("start")) || 0,
    view: url.searchParams.get("view") ?? "",
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

/** Go to an address of the app. @param {string} path @param {{replace?: boolean, state?: unknown}} [options] */
export function go(path, { replace = false, state = null } = {}) {
  history[replace ? "replaceState" : "pushState"](state, "", path);
  window.dispatchEvent(new CustomEvent("quoth-navigated"));
}
