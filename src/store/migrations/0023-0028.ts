import type { Migration } from '../migrations.ts'

/** Policies that decide sessions, and their decisions. The facts of an evaluation are stored as evidence. */
const sessionPolicies: Migration = {
  number: 23,
  name: 'session-policies',
  // A program without such policies leaves sessions to people.
  worksWith: 22,
  statements: ({ integer, tableEnd }) => [
    `ALTER TABLE policies ADD COLUMN decides TEXT NOT NULL DEFAULT 'requests' CHECK (decides IN ('requests', 'sessions'))`,

    `CREATE TABLE session_policies (
       organization_id TEXT PRIMARY KEY NOT NULL,
       policy_id TEXT NOT NULL,
       FOREIGN KEY (organization_id, policy_id) REFERENCES policies (organization_id, id)
     )${tableEnd}`,

    // One decision per sequence number of the session. Without a revision, only the shadow was evaluated.
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

const verificationServices: Migration = {
  number: 24,
  name: 'verification-services',
  statements: ({ integer, bytes, tableEnd }) => [
    "ALTER TABLE webhook_endpoints ADD COLUMN service TEXT CHECK (service IN ('sumsub', 'persona', 'veriff'))",
    `ALTER TABLE webhook_endpoints ADD COLUMN sealed_service_secret ${bytes}`,
    `ALTER TABLE webhook_endpoints ADD COLUMN previous_sealed_service_secret ${bytes}`,
    `ALTER TABLE webhook_endpoints ADD COLUMN previous_service_until_seconds ${integer}`,

    // Takes precedence over the organization's general minimum age.
    `CREATE TABLE minimum_ages (
       organization_id TEXT NOT NULL REFERENCES organizations (id),
       level ${integer} NOT NULL CHECK (level BETWEEN 1 AND 3),
       years ${integer} NOT NULL CHECK (years BETWEEN 1 AND 99),
       PRIMARY KEY (organization_id, level)
     )${tableEnd}`,

    // According to the geography file. The IP address is not stored.
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

const latencyAndLabels: Migration = {
  number: 25,
  name: 'latency-and-labels',
  worksWith: 24,
  statements: ({ integer, tableEnd }) => [
    // Counts of all processes per bucket of src/lib/histogram.ts.
    `CREATE TABLE answer_latencies (
       organization_id TEXT NOT NULL REFERENCES organizations (id),
       at_seconds ${integer} NOT NULL,
       counts TEXT NOT NULL,
       PRIMARY KEY (organization_id, at_seconds)
     )${tableEnd}`,
    'CREATE INDEX answer_latencies_by_age ON answer_latencies (at_seconds)',
    'ALTER TABLE bindings ADD COLUMN label TEXT',
  ],
}

/** Claims whose answers are in the decision log. Single machines use them instead of `idempotency`. */
const claimGroups: Migration = {
  number: 26,
  name: 'claim-groups',
  statements: ({ integer, bytes, tableEnd }) => [
    `CREATE TABLE claim_groups (
       first_number ${integer} PRIMARY KEY NOT NULL,
       keep_until_seconds ${integer} NOT NULL,
       claims ${bytes} NOT NULL
     )${tableEnd}`,
    'CREATE INDEX claim_groups_by_age ON claim_groups (keep_until_seconds)',
  ],
}

/** Basis of a decision about a hit: the same list, entry and subject can have both a cleared and an open hit. */
const hitBasis: Migration = {
  number: 27,
  name: 'hit-basis',
  statements: ({ integer, tableEnd }) => [
    // Rebuilds the table, because SQLite can't change a unique constraint. The basis of earlier hits is empty.
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

    // The outcome without hits. Null if the previous version wrote the check.
    'ALTER TABLE session_checks ADD COLUMN own_outcome TEXT',

    `ALTER TABLE session_check_queue ADD COLUMN is_made ${integer} NOT NULL DEFAULT 0`,
  ],
}

/** The version whose wallets a shared list contains, and the time of its last confirmation. */
const sharedWallets: Migration = {
  number: 28,
  name: 'shared-wallets',
  // While nodes are updated, the previous version may share wallets without a version; this one shares them again.
  worksWith: 27,
  statements: ({ integer }) => [
    'ALTER TABLE lists ADD COLUMN screening_list TEXT',
    `ALTER TABLE lists ADD COLUMN screening_confirmed_at_seconds ${integer}`,
    'ALTER TABLE screening_lists ADD COLUMN shared_version_id TEXT',
    // The shared version is unknown, so all wallets are shared again. Until then, the age counts from the last change.
    `UPDATE lists SET screening_confirmed_at_seconds = updated_at_seconds,
       screening_list = (SELECT s.name FROM screening_lists s WHERE REPLACE(s.name, '-', '_') = lists.name)
     WHERE organization_id IS NULL
       AND EXISTS (SELECT 1 FROM screening_lists s WHERE REPLACE(s.name, '-', '_') = lists.name)
       AND NOT EXISTS (SELECT 1 FROM list_sources WHERE list_id = lists.id)`,
  ],
}

export const MIGRATIONS_23_TO_28: readonly Migration[] = [
  sessionPolicies,
  verificationServices,
  latencyAndLabels,
  claimGroups,
  hitBasis,
  sharedWallets,
]
