"""Reading and writing collections: which index serves one, and which embedder built it."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, and_, delete, insert, select, update

from quoth.core.calibration import Tuning
from quoth.core.command_line import command_line
from quoth.core.errors import InputError, NotFound, StoreDown
from quoth.core.types import IndexIdentity
from quoth.store.checksums import first_intact
from quoth.store.database import TenantConnection
from quoth.store.rows import (
    Collection,
    IndexBuild,
    collection_from_row,
    digest,
    is_path_segment,
    now,
)
from quoth.store.schema import collections, documents, jobs, queries, shares, tasks
from quoth.text.json_codec import dump


class CollectionRows(TenantConnection):
    """The collections of one tenant."""

    def collections(self) -> list[Collection]:
        """List the collections, by name."""
        statement = select(collections).where(collections.c.tenant == self.tenant)
        with self.reading() as connection:
            ordered = statement.order_by(collections.c.name)
            return [collection_from_row(row) for row in connection.execute(ordered)]

    def collection(self, name: str) -> Collection:
        """Return the collection of that name; raises NotFound naming those there are."""
        found = self.find_collection(name)
        if found is None:
            names = [collection.name for collection in self.collections()]
            there = f"There are: {', '.join(names)}." if names else "Nothing was added yet."
            add = command_line("add PATH", collection=name)
            raise NotFound(
                f"There is no collection '{name}' in this library. {there} Make it with: {add}"
            )
        return found

    def find_collection(self, name: str) -> Collection | None:
        """Return the collection of that name, or None."""
        named = select(collections).where(
            collections.c.tenant == self.tenant, collections.c.name == name
        )
        with self.reading() as connection:
            row = connection.execute(named).first()
        if row is not None and first_intact([row]) is None:
            raise StoreDown(
                f"The row of the collection '{name}' is damaged. Look at: quoth doctor",
                damaged=True,
            )
        return None if row is None else collection_from_row(row)

    def collection_of_index(self, table: str) -> str:
        """Return the name of the collection to which a table of an index belongs; empty for none.

        A table has the id of its collection in its name, also before and after it serves it.
        """
        key = table.removeprefix("c_").partition("_")[0]
        named = select(collections.c.name).where(
            collections.c.tenant == self.tenant, collections.c.id == key
        )
        with self.reading() as connection:
            return connection.execute(named).scalar() or ""

    def make_collection(
        self, name: str, *, identity: IndexIdentity, embedder: str = ""
    ) -> Collection:
        """Return the collection of that name, making it with this identity if it is not there.

        ``embedder`` is the setting that opens the identity's embedder again. Raises InputError for
        a new name that is no part of a path.
        """
        found = self.find_collection(name)
        if found is not None:
            return found
        if not is_path_segment(name):
            raise InputError(
                f"'{name}' cannot name a collection: the name is part of its URL. Leave out "
                "slashes, backslashes and what cannot be seen; '.' and '..' are no names either."
            )
        key = digest(self.tenant, name)
        with self.writing("make collection") as connection:
            known = select(collections.c.id).where(collections.c.id == key)
            if connection.execute(known).first() is None:
                connection.execute(
                    insert(collections).values(
                        id=key,
                        tenant=self.tenant,
                        name=name,
                        # Never used before: what was remembered of a collection that was deleted
                        # must not pass for its namesake's.
                        index_table=f"c_{key}_{uuid4().hex[:12]}",
                        identity=dump(asdict(identity)),
                        embedder=embedder,
                        version=0,
                        created_at=now(),
                    )
                )
        return self.collection(name)

    def switch_index(self, collection: Collection, build: IndexBuild) -> bool:
        """Let another index serve the collection, unless it has changed since it was read.

        The index of another embedder is kept beside it, in place of one that was kept before. The
        tuning belongs to one embedder and is dropped with it.
        """
        values: dict[str, Any] = {
            "index_table": build.table,
            "identity": dump(asdict(build.identity)),
            "embedder": build.embedder,
            "version": collections.c.version + 1,
        }
        if build.identity != collection.identity:
            values |= {
                "tuning": None,
                "kept": dump(asdict(replace(collection.build, replaced_at=now()))),
            }
        with self.writing("switch index") as connection:
            done = connection.execute(
                update(collections)
                .where(self._is_collection(collection), collections.c.version == collection.version)
                .values(values)
            )
        return bool(done.rowcount)

    def forget_kept(self, collection: Collection) -> bool:
        """Note that the index of an earlier embedder is not there any more, unless it serves now.

        A rebuild that goes back to it meanwhile finds the collection changed.
        """
        with self.writing("forget kept index") as connection:
            own = update(collections).where(
                self._is_collection(collection), collections.c.index_table == collection.table
            )
            left = {"kept": None, "version": collections.c.version + 1}
            return bool(connection.execute(own.values(left)).rowcount)

    def tune(self, collection: Collection, tuning: Tuning | None) -> bool:
        """Store the tuning of a collection, unless its index has changed since."""
        packed = None if tuning is None else dump(asdict(tuning))
        with self.writing("tune collection") as connection:
            same = collections.c.index_table == collection.table
            done = connection.execute(
                update(collections)
                .where(self._is_collection(collection), same)
                .values(tuning=packed, version=collections.c.version + 1)
            )
        return bool(done.rowcount)

    def delete_collection(self, collection: Collection) -> tuple[str, ...]:
        """Delete a collection with all dependent rows; return the ids of its documents.

        Queries to this collection only are deleted too, since their answers quote it, and so are
        its shares and pending uploads.
        """
        ids = select(documents.c.id).where(self.for_tenant(documents, collection))
        waiting = select(jobs.c.document_id).where(self.for_tenant(jobs, collection))
        with self.writing("delete collection") as connection:
            gone = sorted(row[0] for row in connection.execute(ids.union(waiting)))
            for table in (queries, shares, tasks):
                of_it = table.c.collection == collection.name
                connection.execute(delete(table).where(table.c.tenant == self.tenant, of_it))
            connection.execute(delete(collections).where(self._is_collection(collection)))
        return tuple(gone)

    def _is_collection(self, collection: Collection) -> Any:
        return and_(collections.c.tenant == self.tenant, collections.c.id == collection.id)

    def _bump(self, connection: Connection, collection: Collection) -> None:
        connection.execute(
            update(collections)
            .where(self._is_collection(collection))
            .values(version=collections.c.version + 1)
        )
