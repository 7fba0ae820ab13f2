import type { Migration } from '../migrations.ts'

export const screening: Migration = {
  number: 21,
  name: 'screening',
  statements: ({ integer, bytes, tableEnd }) => [
    // Lists without URLs are filled only from files. `validators`: the publisher's validators of each file.
    `CREATE TABLE screening_lists (
       name TEXT PRIMARY KEY NOT NULL,
       format TEXT NOT NULL,
       urls TEXT NOT NULL,
       reach TEXT NOT NULL CHECK (reach IN ('public', 'private', 'loopback')),
       interval_seconds ${integer} NOT NULL CHECK (interval_seconds >= 60),
       version_id TEXT,
       due_at_seconds ${integer} NOT NULL,
       leased_until_seconds ${integer} NOT NULL,
       token TEXT NOT NULL,
       attempted_at_seconds ${integer},
       failure TEXT,
       confirmed_at_seconds ${integer},
       validators TEXT NOT NULL
     )${tableEnd}`,

    // Outlives its list, because hits refer to it.
    `CREATE TABLE screening_versions (
       id TEXT PRIMARY KEY NOT NULL,
       list_name TEXT NOT NULL,
       sha256 TEXT NOT NULL,
       entry_count ${integer} NOT NULL,
       name_count ${integer} NOT NULL,
       created_at_seconds ${integer} NOT NULL
     )${tableEnd}`,
    'CREATE INDEX screening_versions_by_list ON screening_versions (list_name, created_at_seconds)',

    `CREATE TABLE screening_chunks (
       version_id TEXT NOT NULL REFERENCES screening_versions (id),
       number ${integer} NOT NULL,
       content ${bytes} NOT NULL,
       PRIMARY KEY (version_id, number)
     )${tableEnd}`,

    `CREATE TABLE screening_thresholds (
       organization_id TEXT PRIMARY KEY NOT NULL REFERENCES organizations (id),
       threshold ${integer} NOT NULL CHECK (threshold BETWEEN 0 AND 100)
     )${tableEnd}`,

    // The latest comparison of a session. The key contains the compared versions.
    `CREATE TABLE screening_checks (
       organization_id TEXT NOT NULL,
       session_id TEXT NOT NULL,
       session_sequence ${integer} NOT NULL,
       lists_key TEXT NOT NULL,
       versions TEXT NOT NULL,
       threshold ${integer} NOT NULL,
       problem TEXT,
       checked_at_seconds ${integer} NOT NULL,
       PRIMARY KEY (organization_id, session_id),
       FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
     )${tableEnd}`,

    `CREATE TABLE screening_hits (
       id TEXT PRIMARY KEY NOT NULL,
       organization_id TEXT NOT NULL,
       session_id TEXT NOT NULL,
       list_name TEXT NOT NULL,
       entry_id TEXT NOT NULL,
       version_id TEXT NOT NULL REFERENCES screening_versions (id),
       entry_name TEXT NOT NULL,
       subject TEXT NOT NULL,
       score ${integer} NOT NULL,
       why TEXT NOT NULL,
       state TEXT NOT NULL CHECK (state IN ('open', 'cleared', 'confirmed')),
       found_at_seconds ${integer} NOT NULL,
       decided_at_seconds ${integer},
       decided_by TEXT,
       reason TEXT,
       UNIQUE (organization_id, session_id, list_name, entry_id, subject),
       CHECK ((state = 'open') = (decided_at_seconds IS NULL)),
       FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
     )${tableEnd}`,

    `CREATE INDEX sessions_to_screen ON sessions (status, organization_id, id)
       WHERE status IN ('submitted', 'completed')`,
  ],
}
