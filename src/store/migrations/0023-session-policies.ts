// Policies that decide sessions: what a policy decides, which one an organization lets decide its sessions, and what came of
// it. What a policy was evaluated on is evidence, encrypted and erased as such.
import type { Migration } from '../migrations.ts'

export const sessionPolicies: Migration = {
  number: 23,
  name: 'session-policies',
  // A program that knows no such policies leaves sessions to people.
  worksWith: 22,
  statements: ({ integer, tableEnd }) => [
    `ALTER TABLE policies ADD COLUMN decides TEXT NOT NULL DEFAULT 'requests' CHECK (decides IN ('requests', 'sessions'))`,

    // Without a row people decide.
    `CREATE TABLE session_policies (
       organization_id TEXT PRIMARY KEY NOT NULL,
       policy_id TEXT NOT NULL,
       FOREIGN KEY (organization_id, policy_id) REFERENCES policies (organization_id, id)
     )${tableEnd}`,

    // By the session's sequence number that the policy saw: once each time it is handed in. Without a revision none was
    // active, and the shadow alone was evaluated.
    `CREATE TABLE session_policy_decisions (
       organization_id TEXT NOT NULL,
       session_id TEXT NOT NULL,
       sequence ${integer} NOT NULL,
       policy_id TEXT NOT NULL,
       revision_id TEXT REFERENCES policy_revisions (id),
       outcome TEXT NOT NULL CHECK (outcome IN ('completed', 'rejected', 'review')),
       rule TEXT,
       code TEXT,
       problem TEXT,
       shadow_revision_id TEXT REFERENCES policy_revisions (id),
       shadow_outcome TEXT CHECK (shadow_outcome IN ('completed', 'rejected', 'review')),
       shadow_rule TEXT,
       shadow_problem TEXT,
       decided_at_seconds ${integer} NOT NULL,
       PRIMARY KEY (organization_id, session_id, sequence),
       CHECK ((shadow_revision_id IS NULL) = (shadow_outcome IS NULL)),
       FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
     )${tableEnd}`,
    `CREATE INDEX session_policy_shadows ON session_policy_decisions (organization_id, shadow_revision_id, session_id)
       WHERE shadow_revision_id IS NOT NULL`,
  ],
}
