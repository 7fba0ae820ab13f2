// Source: https://www.postgresql.org/docs/current/sql-createtrigger.html, .../collation.html, .../explicit-locking.html
import type { SchemaWords } from '../database.ts'

/** NOTIFY channel that wakes the change feeds of all processes. */
export const CHANGES_CHANNEL = 'countersign_changes'

/** Advisory lock of a migrating process. Arbitrary, but equal in every version. */
const MIGRATION_LOCK = 7_316_482_019_553_001n

export const POSTGRES_WORDS: SchemaWords = {
  integer: 'BIGINT',
  bytes: 'BYTEA',
  tableEnd: '',
  // Compare text by bytes, as in SQLite: an update of the operating system can change a collation and break an index.
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
