/**
 * The state of a live session as a pure function of its events, and what the view shows of it.
 *
 * Beside the events of the service: `snapshot`, the answer of `GET /v1/sessions/ID`.
 * @typedef {{segment_id: string, start: number, end: number, text: string, final?: boolean, revision?: number, speaker?: string | null}} Segment
 * @typedef {{index: number, start: number | null, transcriptId: string, citations: any[]}} Window
 * @typedef {object} Live
 * @property {any} lecture      null until it is known
 * @property {Segment[]} segments  in the order of the lecture
 * @property {Record<number, Window>} windows
 * @property {number[]} pending windows that are being looked up
 * @property {boolean} slow     whether one of them takes longer than usual
 * @property {{state: string, model?: string, lag_s?: number, message?: string}} speech the microphone
 */

/** @type {Live} */
export const EMPTY = Object.freeze({ lecture: null, segments: [], windows: {}, pending: [], slow: false, speech: { state: "off" } });
const PAUSE_S = 4;
const PARAGRAPH_S = 40;

/** Return the state after an event; unknown events change nothing. @param {Live} state @param {any} event @returns {Live} */
export function reduceLive(state, event) {
  const index = event.window_index;
  switch (event.event) {
    case "snapshot":
      return { ...EMPTY, lecture: event.session, segments: event.segments, windows: Object.fromEntries(event.windows.map(restored)), speech: event.speech ?? EMPTY.speech };
    case "segment":
      return { ...state, segments: withSegment(state.segments, event.segment) };
    case "window":
      return {
        ...withWindow(state, index, { start: event.start, transcriptId: event.transcript_id }),
        pending: [...state.pending.filter((known) => known !== index), index],
      };
    case "citations": {
      const pending = event.early ? state.pending : state.pending.filter((known) => known !== index);
      const [first] = event.citations;
      const place = state.windows[index] ? {} : { transcriptId: first?.transcript_id ?? "" };
      return { ...withWindow(state, index, { ...place, citations: event.citations }), pending, slow: state.slow && pending.length > 0 };
    }
    case "stale": {
      const citations = (state.windows[index]?.citations ?? []).map((citation) => (
        event.citation_ids.includes(citation.id) ? { ...citation, stale: true } : citation));
      return withWindow(state, index, { citations });
    }
    case "slow":
      return { ...state, slow: state.pending.includes(index) };
    case "speech":
      return { ...state, speech: event.speech };
    case "end":
      return { ...state, lecture: { ...state.lecture, state: "ended" }, pending: [], slow: false, speech: EMPTY.speech };
    default:
      return state;
  }
}

/** Return whether a snapshot tells more than the events did: another process runs the session. @param {Live} state @param {any} snapshot */
export function isBehind({ segments, windows }, { session, segments: said, windows: found }) {
  const final = segments.filter((segment) => segment.final !== false);
  return session.state === "ended" || said.length > final.length || found.length > Object.keys(windows).length;
}

/** @param {any} record @returns {[number, Window]} */
function restored({ index, start, transcript_id: transcriptId, citations }) {
  return [index, { index, start, transcriptId, citations }];
}

/** @param {Live} state @param {number} index @param {Partial<Window>} values @returns {Live} */
function withWindow(state, index, values) {
  const known = state.windows[index] ?? { index, start: null, transcriptId: "", citations: [] };
  return { ...state, windows: { ...state.windows, [index]: { ...known, ...values } } };
}

/** @param {Segment[]} segments @param {Segment} segment */
function withSegment(segments, segment) {
  const others = segments.filter(({ segment_id: id }) => id !== segment.segment_id);
  const at = others.findLastIndex(({ start, end }) => start < segment.start || (start === segment.start && end <= segment.end));
  return others.toSpliced(at + 1, 0, segment);
}

/** Return the citations behind each segment, by its id: those of the windows that end with it. @param {Live} state */
export function citationsBySegment({ windows }) {
  /** @type {Map<string, any[]>} */
  const found = new Map();
  for (const { transcriptId, citations } of Object.values(windows)) {
    if (citations.length) found.set(transcriptId, [...(found.get(transcriptId) ?? []), ...citations]);
  }
  return found;
}

/**
 * Return the windows that have citations with these words, the newest first.
 * @param {Live} state @param {string} [words]
 */
export function groups({ windows }, words = "") {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (/** @type {any} */ citation) => {
    const text = `${citation.document_name} ${citation.section_heading ?? ""} ${citation.snippet}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  };
  return Object.values(windows)
    .map((window) => ({ ...window, citations: window.citations.filter(has) }))
    .filter((window) => window.citations.length)
    .sort((a, b) => b.index - a.index);
}

/** Return the segments in paragraphs: at a pause, another speaker, or a sentence's end after some time. @param {Segment[]} segments */
export function paragraphsOf(segments) {
  /** @type {Segment[][]} */
  const found = [];
  for (const segment of segments) {
    const last = found.at(-1);
    const before = last?.at(-1);
    const long = last && segment.start - last[0].start > PARAGRAPH_S && /[.?!]["”»)]?\s*$/.test(before?.text ?? "");
    const starts = !last || !before || long || segment.start - before.end > PAUSE_S || segment.speaker !== before.speaker;
    if (starts) found.push([segment]);
    else last.push(segment);
  }
  return found;
}

const TIMES = /((?:\d+:)?\d+:\d+[.,]\d+)[ \t]*-->[ \t]*((?:\d+:)?\d+:\d+[.,]\d+)/;
/** @type {Record<string, string>} */
const ENTITIES = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&nbsp;": " " };

/** Return the cues of an SRT or WebVTT file as segments; none where it is another file. @param {string} file @returns {Segment[]} */
export function cuesOf(file) {
  const blocks = file.replace(/\r\n?/g, "\n").split(/\n[ \t]*\n/);
  return blocks.flatMap((block) => {
    const times = TIMES.exec(block);
    const words = times ? block.slice(times.index).split("\n").slice(1).join(" ") : "";
    const speaker = /<v(?:\.\S+)? ([^>]+)>/.exec(words)?.[1] ?? null;
    const text = words.replace(/<[^>]*>/g, "").replace(/&\w+;/g, (name) => ENTITIES[name] ?? name).replace(/\s+/g, " ").trim();
    return times && text ? [{ start: secondsOf(times[1]), end: secondsOf(times[2]), text, speaker }] : [];
  })
    .sort((a, b) => a.start - b.start)
    // By their times: a session may take the captions of a second file.
    .map((cue, at) => ({ ...cue, end: Math.max(cue.start, cue.end), segment_id: `c${Math.round(1000 * cue.start)}-${at}` }));
}

/** @param {string} time */
function secondsOf(time) {
  return time.replace(",", ".").split(":").reduce((sum, part) => 60 * sum + Number(part), 0);
}
