// The verification service whose own webhooks decide sessions, how old people have to be at each level, and from which
// country a session was handed in. Hits are found by what became of them, for the queue.
import type { Migration } from '../migrations.ts'

export const verificationServices: Migration = {
  number: 24,
  name: 'verification-services',
  statements: ({ integer, bytes, tableEnd }) => [
    "ALTER TABLE webhook_endpoints ADD COLUMN service TEXT CHECK (service IN ('sumsub', 'persona', 'veriff'))",
    `ALTER TABLE webhook_endpoints ADD COLUMN sealed_service_secret ${bytes}`,
    `ALTER TABLE webhook_endpoints ADD COLUMN previous_sealed_service_secret ${bytes}`,
    `ALTER TABLE webhook_endpoints ADD COLUMN previous_service_until_seconds ${integer}`,

    // Before the organization's own minimum age.
    `CREATE TABLE minimum_ages (
       organization_id TEXT NOT NULL REFERENCES organizations (id),
       level ${integer} NOT NULL CHECK (level BETWEEN 1 AND 3),
       years ${integer} NOT NULL CHECK (years BETWEEN 1 AND 99),
       PRIMARY KEY (organization_id, level)
     )${tableEnd}`,

    // By the geography file, from the address that handed it in; the address itself is kept nowhere.
    `CREATE TABLE session_origins (
       organization_id TEXT NOT NULL,
       session_id TEXT NOT NULL,
       country TEXT NOT NULL,
       seen_at_seconds ${integer} NOT NULL,
       PRIMARY KEY (organization_id, session_id),
       FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
     )${tableEnd}`,

    'CREATE INDEX screening_hits_by_state ON screening_hits (organization_id, state, session_id)',
  ],
}
