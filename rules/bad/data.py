"""What the rules of data.yml must find, and what they must let pass. Never run."""

import sqlite3

import sqlalchemy
from sqlalchemy import delete, select, text, update


def predicates(table, connection, key):
    # ruleid: string-built-statement
    table.search().where(f"document_id = '{key}'")
    # ruleid: string-built-statement
    table.delete(f"document_id = '{key}'")
    # ruleid: string-built-statement
    table.delete("document_id = '%s'" % key)
    # ruleid: string-built-statement
    table.search().where("tenant = 'a'")
    # ruleid: string-built-statement
    connection.execute(f"SELECT * FROM chunks WHERE id = '{key}'")
    # ruleid: string-built-statement
    connection.execute("SELECT * FROM chunks WHERE id = '" + key + "'")
    # ruleid: string-built-statement
    connection.execute("SELECT * FROM chunks WHERE id = '{}'".format(key))
    # ruleid: string-built-statement
    connection.execute(text(f"SELECT * FROM chunks WHERE id = '{key}'"))
    # ruleid: string-built-statement
    connection.exec_driver_sql("DELETE FROM chunks WHERE id = " + key)
    # ok: string-built-statement
    connection.execute(text("SELECT version_num FROM alembic_version"))
    # ok: string-built-statement
    connection.execute(f"PRAGMA {key}")
    # ok: string-built-statement
    table.search().where(col("document_id") == lit(key))


def connections(database, file):
    # ruleid: connection-past-the-walls
    with database.engine.connect() as connection:
        pass
    # ruleid: connection-past-the-walls
    with database.engine.begin() as connection:
        pass
    # ruleid: connection-past-the-walls
    sqlalchemy.create_engine("sqlite://")
    # ruleid: connection-past-the-walls
    sqlite3.connect(file)


class Careless:
    def by_id(self, key):
        with self.reading() as connection:
            # ruleid: statement-open-to-all
            return connection.execute(select(chunks.c.text).where(chunks.c.id == key)).all()

    def forget(self, key):
        with self.writing("forget") as connection:
            # ruleid: statement-open-to-all
            connection.execute(delete(chunks).where(chunks.c.id == key))

    def rename(self, key):
        with self.writing("rename") as connection:
            # ruleid: statement-open-to-all
            connection.execute(update(chunks).where(chunks.c.id == key).values(name="x"))

    def of_mine(self, key):
        with self.reading() as connection:
            # ok: statement-open-to-all
            return connection.execute(
                select(chunks.c.text).where(chunks.c.tenant == self.tenant, chunks.c.id == key)
            ).all()

    def of_this_collection(self, collection):
        with self.reading() as connection:
            # ok: statement-open-to-all
            return connection.execute(select(chunks).where(self.owned(chunks, collection))).all()
