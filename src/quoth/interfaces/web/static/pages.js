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
import "./components/compare-page.js";
import "./components/document-page.js";
import "./components/explain-page.js";
import "./components/history-page.js";
import "./components/library-page.js";
import "./components/live-list.js";
import "./components/live-page.js";
import "./components/settings-page.js";

/** By the first part of the address; `/q/ID/explain` goes by its last. @type {Record<string, PageEntry>} */
export const PAGES = {
  ask: { link: "/", show: (route) => html`<ask-page .route=${route}></ask-page>` },
  history: { link: "/history", show: () => html`<history-page></history-page>` },
  library: { link: "/library", show: () => html`<library-page></library-page>` },
  live: { link: "/live", show: (route) => (route.id ? html`<live-page .route=${route}></live-page>` : html`<live-list></live-list>`) },
  settings: { link: "/settings", show: () => html`<settings-page></settings-page>` },
  compare: { show: (route) => html`<compare-page .question=${route.question}></compare-page>` },
  d: { show: (route) => html`<document-page .route=${route}></document-page>` },
  explain: { show: (route) => html`<explain-page .queryId=${route.id}></explain-page>` },
};

/** Pages with a link in the navigation, in their order. */
export const NAVIGATION = Object.entries(PAGES).flatMap(([name, { link }]) => (link ? [{ name, link }] : []));
