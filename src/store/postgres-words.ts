// The words in which PostgreSQL's table definitions differ from SQLite's.
// Source: https://www.postgresql.org/docs/current/sql-createtrigger.html, .../collation.html, .../explicit-locking.html.
import type { SchemaWords } from './database.ts'

/** Woken by it are the change feeds of all processes. */
export const CHANGES_CHANNEL = 'countersign_changes'

/** Any number, the same in every version: who migrates holds the advisory lock of it. */
const MIGRATION_LOCK = 7_316_482_019_553_001n

export const POSTGRES_WORDS: SchemaWords = {
  integer: 'BIGINT',
  bytes: 'BYTEA',
  tableEnd: '',
  // Text compares by its bytes as in SQLite: the database's own collation differs from machine to machine, and changes
  // with the operating system under an index that was sorted by it.
  adapt: (statement) => statement.replaceAll(/\bTEXT\b/g, 'TEXT COLLATE "C"'),
  appendOnly: (table) => [
    `CREATE OR REPLACE FUNCTION refuse_row_change() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN RAISE EXCEPTION 'the table takes new rows only' USING ERRCODE = 'check_violation'; END $$`,
    ...['UPDATE', 'DELETE', 'TRUNCATE'].map(
      (verb) =>
        `CREATE TRIGGER ${table}_refuses_${verb.toLowerCase()} BEFORE ${verb} ON ${table}
         FOR EACH STATEMENT EXECUTE FUNCTION refuse_row_change()`,
    ),
  ],
  beginMigration: [`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`],
}
