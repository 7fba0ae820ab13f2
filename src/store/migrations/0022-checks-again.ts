// Stores comparisons with lists as checks, to which hits refer, and repeats earlier comparisons.
import type { Migration } from '../migrations.ts'

export const checksAgain: Migration = {
  number: 22,
  name: 'checks-again',
  statements: ({ integer, tableEnd }) => [
    // Rebuilds the table, because the databases differ in how they drop a column's reference.
    'ALTER TABLE screening_hits RENAME TO screening_hits_before',
    `CREATE TABLE screening_hits (
       id TEXT PRIMARY KEY NOT NULL,
       organization_id TEXT NOT NULL,
       session_id TEXT NOT NULL,
       check_name TEXT NOT NULL,
       list_name TEXT NOT NULL,
       entry_id TEXT NOT NULL,
       version_id TEXT NOT NULL,
       entry_name TEXT NOT NULL,
       subject TEXT NOT NULL,
       score ${integer} NOT NULL,
       why TEXT NOT NULL,
       state TEXT NOT NULL CHECK (state IN ('open', 'cleared', 'confirmed')),
       found_at_seconds ${integer} NOT NULL,
       decided_at_seconds ${integer},
       decided_by TEXT,
       reason TEXT,
       UNIQUE (organization_id, session_id, check_name, list_name, entry_id, subject),
       CHECK ((state = 'open') = (decided_at_seconds IS NULL)),
       FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
     )${tableEnd}`,
    `INSERT INTO screening_hits (id, organization_id, session_id, check_name, list_name, entry_id, version_id, entry_name,
       subject, score, why, state, found_at_seconds, decided_at_seconds, decided_by, reason)
     SELECT id, organization_id, session_id, 'lists.names', list_name, entry_id, version_id, entry_name, subject, score,
       why, state, found_at_seconds, decided_at_seconds, decided_by, reason FROM screening_hits_before`,
    'DROP TABLE screening_hits_before',
    'DROP TABLE screening_checks',
    // Sessions are processed per organization, for which there is an index.
    'DROP INDEX sessions_to_screen',

    `CREATE TABLE screening_settings (
       organization_id TEXT PRIMARY KEY NOT NULL REFERENCES organizations (id),
       threshold ${integer} CHECK (threshold BETWEEN 0 AND 100),
       on_new_hit TEXT CHECK (on_new_hit IN ('review', 'retry', 'revoke')),
       address_lists TEXT,
       screeners TEXT,
       screener_score ${integer},
       screeners_again ${integer} CHECK (screeners_again IN (0, 1))
     )${tableEnd}`,
    `INSERT INTO screening_settings (organization_id, threshold)
     SELECT organization_id, threshold FROM screening_thresholds`,
    'DROP TABLE screening_thresholds',

    "CREATE INDEX screening_hits_open ON screening_hits (organization_id, session_id) WHERE state = 'open'",
  ],
}
