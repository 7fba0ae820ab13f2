// What a decision about a hit rests on, what a check found apart from its hits, and which sessions have all their checks. A hit
// belongs to one comparison: the same list, entry and subject can have a cleared hit and an open one.
import type { Migration } from '../migrations.ts'

export const hitBasis: Migration = {
  number: 27,
  name: 'hit-basis',
  statements: ({ integer, tableEnd }) => [
    // Rebuilt, because SQLite can't change a table's unique constraint. An empty basis: the hit is from before this migration.
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
       basis TEXT NOT NULL DEFAULT '',
       settings TEXT NOT NULL DEFAULT '',
       score ${integer} NOT NULL,
       why TEXT NOT NULL,
       state TEXT NOT NULL CHECK (state IN ('open', 'cleared', 'confirmed')),
       found_at_seconds ${integer} NOT NULL,
       decided_at_seconds ${integer},
       decided_by TEXT,
       reason TEXT,
       UNIQUE (organization_id, session_id, check_name, list_name, entry_id, subject, basis),
       CHECK ((state = 'open') = (decided_at_seconds IS NULL)),
       FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
     )${tableEnd}`,
    `INSERT INTO screening_hits (id, organization_id, session_id, check_name, list_name, entry_id, version_id, entry_name,
       subject, score, why, state, found_at_seconds, decided_at_seconds, decided_by, reason)
     SELECT id, organization_id, session_id, check_name, list_name, entry_id, version_id, entry_name, subject, score, why,
       state, found_at_seconds, decided_at_seconds, decided_by, reason FROM screening_hits_before`,
    'DROP TABLE screening_hits_before',
    "CREATE INDEX screening_hits_open ON screening_hits (organization_id, session_id) WHERE state = 'open'",
    'CREATE INDEX screening_hits_by_state ON screening_hits (organization_id, state, session_id)',

    // The outcome without hits. Null: the version before wrote the check.
    'ALTER TABLE session_checks ADD COLUMN own_outcome TEXT',

    // 1: all checks are stored, and what follows from them is still to be done.
    `ALTER TABLE session_check_queue ADD COLUMN is_made ${integer} NOT NULL DEFAULT 0`,
  ],
}
