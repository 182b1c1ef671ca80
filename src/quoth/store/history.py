"""Query history in the catalogue."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from quoth.core.errors import InputError, NotFound, StoreDown
from quoth.store.checksums import first_intact, intact
from quoth.store.database import TenantConnection
from quoth.store.rows import now
from quoth.store.schema import answers, queries, records
from quoth.text.analyzer import normalize_name

LISTED = 5
"""Ids that are named where a beginning fits several."""


@dataclass(frozen=True, slots=True)
class QueryCost:
    """Cost of an answer, for the statistics.

    ``key_id`` is the API key of the caller, ``upload_id`` the file the query was limited to.
    """

    key_id: str | None = None
    upload_id: str | None = None
    total_ms: float | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0
    degraded: bool = False
    cached: bool = False


@dataclass(frozen=True, slots=True)
class AnswerMeasures:
    """Counts of an answer from which citation accuracy and precision@k are derived.

    ``sentences_checked`` are its sentences whose support was decided; ``passages_in_context`` the
    passages that it was made from, ``passages_cited`` those of them that it cites.
    """

    sentences_checked: int
    sentences_supported: int
    passages_in_context: int
    passages_cited: int


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A query as it is written to the catalogue: texts, some of them JSON.

    ``measures`` is None where the answer was not measured.
    """

    query_id: str
    collection: str
    text: str
    plan: str
    answer: str
    version: str
    status: str = ""
    record: str | None = None
    spent: QueryCost = QueryCost()
    measures: AnswerMeasures | None = None


@dataclass(frozen=True, slots=True)
class QuerySummary:
    """A question in the history; ``text`` is its hash where only that is stored.

    ``title`` is what people call it, None for its own words.
    """

    query_id: str
    created_at: str
    collection: str
    text: str
    status: str
    title: str | None = None


@dataclass(frozen=True, slots=True)
class QueryRow:
    """All that is stored of a question, as JSON; ``record`` is None from before version 3."""

    query_id: str
    created_at: str
    collection: str
    text: str
    plan: str
    answer: str
    version: str
    record: str | None


ALL_COLUMNS = (
    select(
        queries.c.id,
        queries.c.created_at,
        queries.c.collection,
        queries.c.text,
        queries.c.plan,
        answers.c.answer,
        queries.c.index_version,
        records.c.record,
    )
    .join_from(queries, answers, queries.c.id == answers.c.query_id)
    .outerjoin(records, queries.c.id == records.c.query_id)
)
"""The columns of a `QueryRow`, of every tenant: callers add the tenant."""


def folded_texts(text: str, title: str | None, answer: str) -> str:
    """Return what a search reads of a question: its words, its title and the text of its answer.

    ``answer`` is the stored JSON; a damaged one leaves the question to be found by its own words.
    Characters that no database accepts are left out.
    """
    try:
        said = json.loads(answer)["text"]
    except (ValueError, KeyError, TypeError):
        said = ""
    folded = normalize_name(f"{text} {title or ''} {said}").replace("\0", " ")
    return folded.encode("utf-8", "ignore").decode("utf-8")


class QueryHistory(TenantConnection):
    """Stored queries of one tenant, with plan, answer and record."""

    def record(self, row: StoredRecord) -> None:
        """Store a query with its plan, answer and record."""
        owner = {"query_id": row.query_id, "tenant": self.tenant}
        measures = {} if row.measures is None else asdict(row.measures)
        with self.writing("record answer", alone=False) as connection:
            connection.execute(
                insert(queries).values(
                    id=row.query_id,
                    tenant=self.tenant,
                    collection=row.collection,
                    text=row.text,
                    plan=row.plan,
                    index_version=row.version,
                    created_at=now(),
                    status=row.status,
                    folded=folded_texts(row.text, None, row.answer),
                    **asdict(row.spent),
                    **measures,
                )
            )
            connection.execute(insert(answers).values(**owner, answer=row.answer))
            if row.record is not None:
                connection.execute(insert(records).values(**owner, record=row.record))

    def answer(self, query_id: str) -> str:
        """Return the stored answer as JSON; raises NotFound."""
        statement = select(answers).where(
            answers.c.tenant == self.tenant, answers.c.query_id == query_id
        )
        with self.reading() as connection:
            found = first_intact(connection.execute(statement))
        if found is None:
            raise NotFound(f"There is no question with the id '{query_id}'.")
        return str(found.answer)

    def citing(self, citation_id: str) -> str:
        """Return the newest stored answer that holds this citation, as JSON; raises NotFound."""
        statement = (
            select(answers)
            .join_from(answers, queries, answers.c.query_id == queries.c.id)
            .where(
                answers.c.tenant == self.tenant,
                queries.c.tenant == self.tenant,
                answers.c.answer.contains(f'"id":"{citation_id}"', autoescape=True),
            )
            .order_by(queries.c.created_at.desc())
            .limit(1)
        )
        with self.reading() as connection:
            found = first_intact(connection.execute(statement))
        if found is None:
            raise NotFound(f"No stored answer holds the citation '{citation_id}'.")
        return str(found.answer)

    def asked(
        self,
        *,
        limit: int,
        skip: int = 0,
        collection: str | None = None,
        upload_id: str | None = None,
        words: str = "",
    ) -> list[QuerySummary]:
        """List questions, the newest first; of one collection or upload, or of all.

        With ``words`` only those that hold each of them, case and accents aside, in the question,
        its title or the text of the answer.
        """
        wanted = self._wanted(collection=collection, upload_id=upload_id, words=words)
        newest = (queries.c.created_at.desc(), queries.c.id)
        statement = select(queries).where(*wanted).order_by(*newest).offset(skip).limit(limit)
        with self.reading() as connection:
            return [
                QuerySummary(
                    row.id, row.created_at, row.collection, row.text, row.status, row.title
                )
                for row in intact(connection.execute(statement))
            ]

    def count_asked(
        self, *, collection: str | None = None, upload_id: str | None = None, words: str = ""
    ) -> int:
        """Count the questions that `asked` lists."""
        wanted = self._wanted(collection=collection, upload_id=upload_id, words=words)
        return self.count_rows(queries, *wanted)

    def _wanted(
        self, *, collection: str | None, upload_id: str | None, words: str
    ) -> list[ColumnElement[bool]]:
        wanted = [queries.c.tenant == self.tenant]
        if collection is not None:
            wanted.append(queries.c.collection == collection)
        if upload_id is not None:
            wanted.append(queries.c.upload_id == upload_id)
        wanted.extend(
            queries.c.folded.contains(word, autoescape=True)
            for word in normalize_name(words).split()
        )
        return wanted

    def asked_by(self, query_id: str) -> str | None:
        """Return the id of the key that asked a question, None for an unknown one."""
        statement = select(queries.c.key_id).where(
            queries.c.tenant == self.tenant, queries.c.id == query_id
        )
        with self.reading() as connection:
            return connection.execute(statement).scalar()

    def rename(self, query_id: str, title: str | None) -> bool:
        """Set the title of a question, or take it away; returns whether the question exists."""
        its = (queries.c.tenant == self.tenant) & (queries.c.id == query_id)
        texts = select(queries.c.text, answers.c.answer).outerjoin(answers).where(its)
        with self.writing("rename question") as connection:
            found = connection.execute(texts).first()
            if found is None:
                return False
            folded = folded_texts(found.text, title, found.answer or "")
            connection.execute(update(queries).where(its).values(title=title, folded=folded))
        return True

    def forget(self, query_id: str) -> bool:
        """Delete a question with all that is stored of it; returns whether it existed."""
        with self.writing("forget question") as connection:
            gone = connection.execute(
                delete(queries).where(queries.c.tenant == self.tenant, queries.c.id == query_id)
            )
        return bool(gone.rowcount)

    def recorded(self, beginning: str) -> QueryRow:
        """Return the stored query whose id has this prefix, with or without ``q_``.

        Raises NotFound, and InputError for an ambiguous prefix.
        """
        query_id = self._whole_id(beginning)
        statement = ALL_COLUMNS.where(queries.c.tenant == self.tenant, queries.c.id == query_id)
        with self.reading() as connection:
            self._check(connection, query_id)
            return QueryRow(*connection.execute(statement).one())

    def _check(self, connection: Connection, query_id: str) -> None:
        """Raise StoreDown where a row of a question is damaged."""
        for table, key in ((queries, "id"), (answers, "query_id"), (records, "query_id")):
            its = (table.c.tenant == self.tenant) & (table.c[key] == query_id)
            row = connection.execute(select(table).where(its)).first()
            if row is not None and first_intact([row]) is None:
                raise StoreDown(
                    f"What is stored of the question {query_id} is damaged; only a backup holds it "
                    "whole. Look at: quoth doctor",
                    damaged=True,
                )

    def _whole_id(self, beginning: str) -> str:
        given = beginning.strip().lower()
        given = given if given.startswith("q") else f"q_{given}"
        statement = (
            select(queries.c.id)
            .where(queries.c.tenant == self.tenant, queries.c.id.startswith(given, autoescape=True))
            .order_by(queries.c.id)
            .limit(LISTED + 1)
        )
        with self.reading() as connection:
            found = [row.id for row in connection.execute(statement)]
        if not found or len(given) < len("q_") + 1:
            raise NotFound(
                f"There is no question with the id '{beginning}'. List the questions with: "
                "quoth history"
            )
        if len(found) > 1 and given not in found:
            more = " …" if len(found) > LISTED else ""
            raise InputError(
                f"The id '{beginning}' matches several questions: {', '.join(found[:LISTED])}"
                f"{more}. Give more of it."
            )
        return given if given in found else str(found[0])
