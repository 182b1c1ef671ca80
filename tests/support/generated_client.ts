// Calls every operation of a running service through a typed client: openapi-fetch over the types
// that openapi-typescript generates from our OpenAPI document. It is compiled first, so that every
// body, parameter and answer is what the document says.
//
//     node generated_client.js ADDRESS     prints {"METHOD PATH": [status, …]}

import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

declare const process: { argv: string[] };

const outcomes: Record<string, (number | string)[]> = {};
const client = createClient<paths>({
  baseUrl: process.argv[2],
  headers: { authorization: "Bearer any" },
});
client.use({
  async onResponse({ request, response, schemaPath }) {
    const told: (number | string)[] = [response.status];
    if (response.status >= 400) told.push((await response.clone().text()).slice(0, 300));
    outcomes[`${request.method} ${schemaPath}`] = told;
  },
});

function got<T>(answer: { data?: T; error?: unknown }): T {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error) ?? "nothing was said");
  return answer.data;
}
// An answer in one piece: the document says that it may also be a stream of events.
function whole(answer: { data?: unknown; error?: unknown }): components["schemas"]["Answer"] {
  return got(answer) as components["schemas"]["Answer"];
}
const at = <P extends object>(path: P) => ({ params: { path } });
const pause = () => new Promise((done) => setTimeout(done, 100));
// The document calls bytes a string of the format "binary"; a client sends them as they are.
const bytes = (text: string) => ({
  body: text,
  bodySerializer: (body: unknown) => body as string,
  headers: { "content-type": "application/octet-stream" },
});

const NOTE = "# Bees\n\nA beehive has one queen, and she is the mother of every bee in it.\n";
const QUESTION = "How many queens has a beehive?";
const NAME = { name: "notes" };

await client.GET("/healthz");
while (!got(await client.GET("/readyz")).ready) await pause();
await client.GET("/metrics", { parseAs: "text" });
await client.GET("/v1/service");

// The library.
await client.POST("/v1/collections", { body: NAME });
await client.GET("/v1/collections");
await client.GET("/v1/collections/{name}", at(NAME));
await client.POST("/v1/sample");
const query = (name: string) => ({ params: { query: { name, collection: "notes" } } });
async function sent(name: string, text: string): Promise<string> {
  const id = got(await client.POST("/v1/uploads", { ...query(name), ...bytes(text) })).id;
  for (;;) {
    const upload = got(await client.GET("/v1/uploads/{upload_id}", at({ upload_id: id })));
    if (["ready", "unchanged", "failed"].includes(upload.state)) return id;
    await pause();
  }
}
async function begun(name: string): Promise<string> {
  const params = { ...query(name).params, header: { "upload-length": 2 * NOTE.length } };
  return got(await client.POST("/v1/uploads", { params })).id;
}
const upload = { upload_id: await sent("bees.md", NOTE) };
await client.GET("/v1/uploads/{upload_id}/events", { ...at(upload), parseAs: "text" });
await client.GET("/v1/uploads");
await client.GET("/v1/operator/tenants");
await client.GET("/v1/operator/uploads");
await client.GET("/v1/operator/watched");
const long = { upload_id: await begun("long.md") };
await client.PATCH("/v1/uploads/{upload_id}", {
  ...bytes(NOTE),
  params: { path: long, header: { "upload-offset": 0 } },
});
await client.DELETE("/v1/uploads/{upload_id}", at(long));
const other = { upload_id: await begun("other.md") };
await client.DELETE("/v1/operator/uploads/{upload_id}", at(other));
const broken = { upload_id: await sent("broken.pdf", "%PDF-1.4 broken") };
await client.POST("/v1/operator/uploads/{upload_id}/retry", at(broken));
const listed = got(
  await client.GET("/v1/documents", { params: { query: { collection: "default", limit: 100 } } }),
).documents;
function named(source: string): { document_id: string } {
  const found = listed.find((document) => document.source === source);
  if (!found) throw new Error(`There is no ${source}.`);
  return { document_id: found.document_id };
}
const pdf = named("book.pdf");
const talk = named("talk.srt");
const notes = got(await client.GET("/v1/documents", { params: { query: { collection: "notes" } } }));
let note = { document_id: notes.documents[0].document_id };
await client.GET("/v1/documents/{document_id}", at(note));
const body = { title: "Of bees" };
note = { document_id: got(await client.PATCH("/v1/documents/{document_id}", { ...at(note), body })).document_id };
await client.GET("/v1/documents/{document_id}/passages", at(note));
await client.GET("/v1/documents/{document_id}/outline", at(note));
await client.GET("/v1/documents/{document_id}/reading", at(note));
await client.GET("/v1/documents/{document_id}/marks", {
  params: { path: pdf, query: { start: 0, end: 9 } },
});
const blob = { parseAs: "blob" } as const;
await client.GET("/v1/documents/{document_id}/pages/{page}/image", { ...at({ ...pdf, page: 1 }), ...blob });
await client.GET("/v1/documents/{document_id}/original", { ...at(note), ...blob });
await client.GET("/v1/documents/{document_id}/media", { ...at(talk), ...blob });
await client.POST("/v1/collections/{name}/reindex", { ...at(NAME), parseAs: "text" });

// Signed links.
async function token(document: { document_id: string }, question: string): Promise<string> {
  const answer = whole(
    await client.POST("/v1/query", {
      params: { query: { links: "signed" } },
      body: { query: question, scope: { documents: [document.document_id] } },
    }),
  );
  return String(answer.citations[0].link).split("/v1/links/")[1].split("?")[0];
}
const signed = { token: await token(talk, QUESTION) };
await client.GET("/v1/links/{token}", { ...at(signed), redirect: "manual" });
await client.GET("/v1/links/{token}/reading", at(signed));
await client.GET("/v1/links/{token}/media", { ...at(signed), ...blob });
const page = { token: await token(pdf, "What did the lighthouse keeper write?"), page: 1 };
await client.GET("/v1/links/{token}/pages/{page}/image", { ...at(page), ...blob });

// Questions.
const ask = { query: QUESTION, collection: "notes" };
const asked = { query_id: whole(await client.POST("/v1/query", { body: ask })).query_id };
await client.POST("/v1/search", { body: ask });
await client.GET("/v1/queries");
await client.GET("/v1/queries/{query_id}", at(asked));
await client.PATCH("/v1/queries/{query_id}", { ...at(asked), body: { title: "Queens" } });
await client.GET("/v1/queries/{query_id}/explain", at(asked));
await client.GET("/v1/queries/{query_id}/export", { ...at(asked), parseAs: "text" });
await client.POST("/v1/queries/{query_id}/replay", at(asked));
await client.POST("/v1/feedback", { body: { ...asked, rating: 1 } });
await client.GET("/v1/suggestions");
await client.GET("/v1/analytics");

// Chat clients and agents.
const model = "quoth/notes";
await client.POST("/v1/chat/completions", {
  body: { model, messages: [{ role: "user", content: QUESTION }] },
});
await client.GET("/v1/models");
await client.GET("/v1/models/{model}", at({ model }));
await client.POST("/v1/embeddings", { body: { model: "quoth", input: ["Bees."] } });
await client.POST("/mcp", {
  body: { jsonrpc: "2.0", id: 1, method: "ping" },
  headers: { accept: "application/json, text/event-stream" },
});

// Live sessions.
const SAID = "Nectar is thickened to honey by fanning until less than a fifth of it is water.";
const collections = { collections: ["default"] };
async function started(): Promise<{ session_id: string }> {
  return { session_id: got(await client.POST("/v1/sessions", { body: collections })).session_id };
}
const lecture = await started();
await client.PATCH("/v1/sessions/{session_id}", { ...at(lecture), body: { title: "Bees" } });
await client.POST("/v1/sessions/{session_id}/segments", {
  ...at(lecture),
  body: { segments: [{ start: 0, end: 60, text: `${SAID} So once more: ${SAID.toLowerCase()}` }] },
});
await client.POST("/v1/sessions/{session_id}/end", at(lecture));
const window = { params: { path: { ...lecture, window_index: 0 }, query: { language: "de" } } };
await client.GET("/v1/sessions/{session_id}/windows/{window_index}/caption", window);
await client.GET("/v1/sessions");
await client.GET("/v1/sessions/{session_id}", at(lecture));
await client.POST("/v1/sessions/{session_id}/share", { ...at(lecture), body: {} });
await client.GET("/v1/sessions/{session_id}/export", { ...at(lecture), parseAs: "text" });
await client.GET("/v1/sessions/{session_id}/events", { ...at(lecture), parseAs: "text" });
await client.POST("/v1/sessions/{session_id}/talk", {
  ...at(lecture),
  body: { collection: "talks" },
});
await client.GET("/v1/documents/{document_id}/explained", at(note));
const numbered = await started();
const STING = "the sting is barbed and pumps venom on after the bee has torn itself free.";
await client.POST("/v1/rag/query", {
  body: { ...numbered, transcript_text: `${STING} So ${STING}`, window_index: 0 },
});
const cited = got(await client.GET("/v1/sessions/{session_id}/citations", at(numbered))).citations;
await client.GET("/v1/citations/{citation_id}", at({ citation_id: cited[0].id }));
for (const session of [lecture, numbered]) {
  await client.DELETE("/v1/sessions/{session_id}", at(session));
}

// Keys, privacy, deletion.
const key = got(await client.POST("/v1/keys", { body: { label: "a", scopes: ["read"] } }));
await client.GET("/v1/keys");
await client.POST("/v1/session", { body: { key: key.token } });
await client.GET("/v1/session");
await client.DELETE("/v1/session");
await client.DELETE("/v1/keys/{key_id}", at({ key_id: key.key.key_id }));
const share = got(await client.POST("/v1/shares", { body: { collection: "notes" } })).share;
await client.GET("/v1/shares");
await client.DELETE("/v1/shares/{share_id}", at({ share_id: share.share_id }));
await client.GET("/v1/privacy");
await client.PUT("/v1/privacy", { body: { history: "full", retention_days: 30, may_leave: false } });
await client.GET("/v1/privacy/export", blob);
await client.GET("/v1/audit");
await client.DELETE("/v1/queries/{query_id}", at(asked));
await client.DELETE("/v1/documents/{document_id}", at(note));
await client.DELETE("/v1/collections/{name}", at(NAME));
await client.POST("/v1/privacy/purge");
await client.DELETE("/v1/privacy/data");
console.log(JSON.stringify(outcomes));
