/**
 * The pages of the app. A further page is a component and a row here, and its address in
 * `ADDRESSES` of `routes.py`.
 *
 * @typedef {import("./router.js").Route} Route
 * @typedef {object} PageEntry
 * @property {string} [link]  the address that the navigation shows, with the message `nav.NAME`
 * @property {(route: Route) => unknown} show
 */
import { html } from "./vendor/lit.js";
import "./components/ask-page.js";

/** Components of the other pages, loaded when they are shown or when the browser has time. */
const LATER = {
  compare: () => import("./components/compare-page.js"),
  document: () => import("./components/document-page.js"),
  explain: () => import("./components/explain-page.js"),
  history: () => import("./components/history-page.js"),
  library: () => import("./components/library-page.js"),
  live: () => Promise.all([import("./components/live-list.js"), import("./components/live-page.js")]),
  settings: () => import("./components/settings-page.js"),
};

/** Return a template whose component is loaded now. @param {keyof typeof LATER} name @param {unknown} template */
function loaded(name, template) {
  LATER[name]().catch(() => window.dispatchEvent(new Event("quoth-page-failed")));
  return template;
}

const whenIdle = window.requestIdleCallback ?? setTimeout;
window.addEventListener("load", () => whenIdle(() => Object.values(LATER).forEach((load) => load().catch(() => {}))));

/** By the first part of the address; `/q/ID/explain` goes by its last. @type {Record<string, PageEntry>} */
export const PAGES = {
  ask: { link: "/", show: (route) => html`<ask-page .route=${route}></ask-page>` },
  history: { link: "/history", show: () => loaded("history", html`<history-page></history-page>`) },
  library: { link: "/library", show: (route) => loaded("library", html`<library-page .collection=${route.collection}></library-page>`) },
  live: { link: "/live", show: (route) => loaded("live", route.id ? html`<live-page .route=${route}></live-page>` : html`<live-list></live-list>`) },
  settings: { link: "/settings", show: () => loaded("settings", html`<settings-page></settings-page>`) },
  compare: { show: (route) => loaded("compare", html`<compare-page .question=${route.question}></compare-page>`) },
  d: { show: (route) => loaded("document", html`<document-page .route=${route}></document-page>`) },
  explain: { show: (route) => loaded("explain", html`<explain-page .queryId=${route.id}></explain-page>`) },
};

/** Pages with a link in the navigation, in their order. */
export const NAVIGATION = Object.entries(PAGES).flatMap(([name, { link }]) => (link ? [{ name, link }] : []));
