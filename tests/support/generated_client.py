"""Calls every operation of a running service through a client that was generated from its document.

Run by the interpreter of the generator's own environment, so it imports nothing of ours:
``python generated_client.py CLIENT_FOLDER ADDRESS OPENAPI_JSON``. Prints, for each operation, its
status and the class of what the client made of the response.
"""

from __future__ import annotations

import io
import json
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any, get_args, get_type_hints

folder, address, document = sys.argv[1:]
sys.path.insert(0, folder)
quoth_client: Any = import_module("quoth_client")
types: Any = import_module("quoth_client.types")

NOTE = b"# Bees\n\nA beehive has one queen, and she is the mother of every bee in it.\n"
QUESTION = "How many queens has a beehive?"
PLACES = {
    operation["operationId"]: (operation["tags"][0], operation)
    for operations in json.loads(Path(document).read_text(encoding="utf-8"))["paths"].values()
    for operation in operations.values()
}
client = quoth_client.AuthenticatedClient(base_url=address, token="any", timeout=60)
outcomes: dict[str, Any] = {}


def call(operation: str, /, *, body: Any = None, **given: Any) -> Any:
    """Call an operation; ``body`` becomes the first generated model that takes it."""
    tag, _about = PLACES[operation]
    module = import_module(f"quoth_client.api.{tag}.{operation}")
    if body is not None:
        hint = get_type_hints(module._get_kwargs)["body"]
        models = [kind for kind in (hint, *get_args(hint)) if hasattr(kind, "from_dict")]
        given["body"] = models[0].from_dict(body) if isinstance(body, dict) else body
    got = module.sync_detailed(client=client, **given)
    outcomes[operation] = [int(got.status_code), type(got.parsed).__name__]
    if got.status_code >= 400:
        outcomes[operation].append(got.content.decode()[:300])
    return got.parsed


def file(data: bytes) -> Any:
    return types.File(payload=io.BytesIO(data), file_name="bees.md", mime_type="text/markdown")


call("show_whether_process_lives")
while not call("show_whether_questions_can_be_answered").ready:
    time.sleep(0.1)
call("show_metrics")
call("show_what_service_offers")

# The library.
call("make_collection", body={"name": "notes"})
call("list_collections")
call("show_collection", name="notes")
call("add_sample_collection")
sent = call("send_file", body=file(NOTE), name="bees.md", collection="notes")
while call("show_state_of_upload", upload_id=sent.id).state not in ("ready", "unchanged"):
    time.sleep(0.1)
call("follow_upload", upload_id=sent.id)
call("list_uploads")
call("list_tenants")
call("list_uploads_of_all_tenants")
call("list_watched_folders")
part = call("send_file", upload_length=2 * len(NOTE), name="long.md", collection="notes")
call("send_next_bytes", upload_id=part.id, upload_offset=0, body=file(NOTE))
call("stop_upload", upload_id=part.id)
part = call("send_file", upload_length=9, name="other.md", collection="notes")
call("cancel_upload_of_any_tenant", upload_id=part.id)
broken = call("send_file", body=file(b"%PDF-1.4 broken"), name="broken.pdf", collection="notes")
while call("show_state_of_upload", upload_id=broken.id).state != "failed":
    time.sleep(0.1)
call("retry_upload_of_any_tenant", upload_id=broken.id)
listed = call("list_documents", collection="default", limit=100).documents
documents = {found.source: found.document_id for found in listed}
pdf, talk = documents["book.pdf"], documents["talk.srt"]
note = call("list_documents", collection="notes").documents[0].document_id
call("show_document", document_id=note)
note = call("correct_document", document_id=note, body={"title": "Of bees"}).document_id
call("read_in_document", document_id=note)
call("list_sections_of_document", document_id=note)
call("read_around_span", document_id=note, start=0, end=9)
call("mark_span_on_its_pages", document_id=pdf, start=0, end=9)
call("draw_page", document_id=pdf, page=1)
call("download_document_file", document_id=note)
call("play_talk_recording", document_id=talk)
call("rebuild_index", name="notes")


# Signed links.
def token(document_id: str, question: str) -> str:
    """Return the signed part of the link of a citation of this document."""
    body = {"query": question, "scope": {"documents": [document_id]}}
    cited = call("ask_question", body=body, links="signed").citations
    return str(cited[0].link.partition("/v1/links/")[2].partition("?")[0])


call("open_signed_link", token=token(talk, QUESTION))
call("read_by_signed_link", token=token(talk, QUESTION))
call("play_recording_by_signed_link", token=token(talk, QUESTION))
call("draw_page_by_signed_link", token=token(pdf, "What did the lighthouse keeper write?"), page=1)

# Questions.
asked = call("ask_question", body={"query": QUESTION, "collection": "notes"}).query_id
call("search_passages", body={"query": QUESTION, "collection": "notes"})
call("list_what_was_asked")
call("show_question_again", query_id=asked)
call("rename_question", query_id=asked, body={"title": "Queens"})
call("explain_answer", query_id=asked)
call("export_answer", query_id=asked)
call("ask_again_and_compare", query_id=asked)
call("rate_answer", body={"query_id": asked, "rating": 1})
call("suggest_questions")
call("show_figures")

# Chat clients and agents.
model = "quoth/notes"
messages = [{"role": "user", "content": QUESTION}]
call("ask_as_clients_of_openai_do", body={"model": model, "messages": messages})
call("list_models")
call("show_one_model", model=model)
call("embed_texts", body={"model": "quoth", "input": ["Bees."]})
ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
call("speak_model_context_protocol", body=ping)

# Live sessions.
lecture = call("start_live_session", body={"collections": ["default"]}).session_id
call("change_live_session", session_id=lecture, body={"title": "Bees"})
said = (
    "Nectar is thickened to honey by fanning until less than a fifth of it is water. So once more:"
)
said += " nectar is thickened to honey by fanning until less than a fifth of it is water."
call(
    "send_what_is_said",
    session_id=lecture,
    body={"segments": [{"start": 0.0, "end": 60.0, "text": said}]},
)
call("end_live_session", session_id=lecture)
call("translate_window", session_id=lecture, window_index=0, language="de")
call("list_live_sessions")
call("show_live_session", session_id=lecture)
call("share_live_session", session_id=lecture, body={})
call("export_live_session", session_id=lecture)
call("follow_live_session", session_id=lecture)
call("keep_live_session_as_talk", session_id=lecture, body={})
call("find_who_explained_page", document_id=note)
numbered = call("start_live_session", body={"collections": ["default"]}).session_id
sting = "the sting is barbed and pumps venom on after the bee has torn itself free."
window = {"session_id": numbered, "transcript_text": f"{sting} So {sting}", "window_index": 0}
call("look_up_one_window", body=window)
cited = call("list_citations_of_session", session_id=numbered).citations
call("show_citation_of_session", citation_id=cited[0].id)
for session in (lecture, numbered):
    call("delete_live_session", session_id=session)

# Keys, privacy, deletion.
key = call("make_key", body={"label": "a", "scopes": ["read"]})
call("list_keys")
call("sign_in", body={"key": key.token})
call("show_who_is_signed_in")
call("sign_out")
call("revoke_key", key_id=key.key.key_id)
share = call("share_collection", body={"collection": "notes"})
call("list_shares")
call("revoke_share", share_id=share.share.share_id)
call("show_privacy_settings")
call("change_privacy_settings", body={"history": "full", "retention_days": 30, "may_leave": False})
call("take_everything")
call("list_audit_log")
call("forget_question", query_id=asked)
call("delete_document", document_id=note)
call("delete_collection", name="notes")
call("leave_no_trace_of_what_was_deleted")
call("delete_everything")
sys.stdout.write(json.dumps(outcomes))
