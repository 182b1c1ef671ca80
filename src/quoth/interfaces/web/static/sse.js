/**
 * Reading of server-sent events.
 * @typedef {{event: string, data: any}} ServerEvent
 */

/**
 * Return a function that takes pieces of a stream and returns the events that they complete.
 * A piece may end anywhere, also between two bytes of a character: pieces are decoded before.
 * @returns {(piece: string) => ServerEvent[]}
 */
export function eventParser() {
  let rest = "";
  return (piece) => {
    rest += piece;
    const parts = rest.split("\n\n");
    rest = parts.pop() ?? "";
    return parts.flatMap(parseEvent);
  };
}

/** @param {string} part @returns {ServerEvent[]} */
function parseEvent(part) {
  let event = "message";
  const data = [];
  for (const line of part.split("\n")) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    if (line.startsWith("data:")) data.push(line.slice(5).trimStart());
  }
  return data.length ? [{ event, data: JSON.parse(data.join("\n")) }] : [];
}

/**
 * Read the events of a response until it ends.
 * @param {Response} response
 * @returns {AsyncGenerator<ServerEvent>}
 */
export async function* readEvents(response) {
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  const decoder = new TextDecoder();
  const parse = eventParser();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield* parse(decoder.decode(value, { stream: true }));
  }
}
