import type { Migration } from '../migrations.ts'

export const sessionChecks: Migration = {
  number: 20,
  name: 'session-checks',
  statements: ({ integer, bytes, tableEnd }) => [
    // The detail contains no personal data: data read from a document is evidence.
    `CREATE TABLE session_checks (
       organization_id TEXT NOT NULL,
       session_id TEXT NOT NULL,
       name TEXT NOT NULL,
       outcome TEXT NOT NULL,
       detail TEXT NOT NULL,
       version TEXT NOT NULL,
       checked_at_seconds ${integer} NOT NULL,
       PRIMARY KEY (organization_id, session_id, name),
       FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
     )${tableEnd}`,
    'CREATE INDEX session_checks_by_outcome ON session_checks (organization_id, outcome, session_id)',

    `CREATE TABLE session_check_queue (
       organization_id TEXT NOT NULL,
       session_id TEXT NOT NULL,
       sequence ${integer} NOT NULL,
       attempts ${integer} NOT NULL DEFAULT 0,
       due_at_seconds ${integer} NOT NULL,
       PRIMARY KEY (organization_id, session_id),
       FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
     )${tableEnd}`,
    'CREATE INDEX session_check_queue_due ON session_check_queue (due_at_seconds)',

    // Values are computed with a sealed key of the organization.
    `CREATE TABLE session_traces (
       organization_id TEXT NOT NULL,
       session_id TEXT NOT NULL,
       kind TEXT NOT NULL,
       value TEXT NOT NULL,
       PRIMARY KEY (organization_id, session_id, kind, value),
       FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
     )${tableEnd}`,
    // Includes the session, so that a lookup uses only this index; otherwise, SQLite prefers the primary key.
    'CREATE INDEX session_traces_by_value ON session_traces (organization_id, kind, value, session_id)',
    `CREATE TABLE trace_keys (
       organization_id TEXT PRIMARY KEY NOT NULL REFERENCES organizations (id),
       sealed_key ${bytes} NOT NULL
     )${tableEnd}`,

    `ALTER TABLE organizations ADD COLUMN minimum_age ${integer} CHECK (minimum_age BETWEEN 1 AND 99)`,
  ],
}
