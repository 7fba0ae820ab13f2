import type { Migration } from '../migrations.ts'

/** Shadow revisions, whose verdicts are recorded in addition to the active revision's verdicts (decisions §4). */
const policyShadow: Migration = {
  number: 8,
  name: 'policy-shadow',
  statements: () => ['ALTER TABLE policies ADD COLUMN shadow_revision_id TEXT'],
}

/** Live processes, the leader, rate limits, and counts per wallet (docs/many-machines.md, "Shared limits"). */
const sharedLimits: Migration = {
  number: 9,
  name: 'shared-limits',
  statements: ({ integer, tableEnd }) => [
    // A process whose beat stops is dead. Clocks of different machines are never compared.
    `CREATE TABLE live_processes (
       id TEXT PRIMARY KEY,
       name TEXT NOT NULL,
       beat ${integer} NOT NULL,
       clock_ms ${integer} NOT NULL,
       started_at_seconds ${integer} NOT NULL
     )${tableEnd}`,

    // The term increments with each change of holder. An empty holder means none.
    `CREATE TABLE leader_leases (
       name TEXT PRIMARY KEY,
       holder TEXT NOT NULL,
       term ${integer} NOT NULL,
       beat ${integer} NOT NULL
     )${tableEnd}`,

    // Tokens that no process holds, in thousandths; negative if spent in advance. Uses the processes' shared time.
    `CREATE TABLE rate_balances (
       key_id TEXT PRIMARY KEY,
       millitokens ${integer} NOT NULL,
       at_ms ${integer} NOT NULL,
       holders TEXT NOT NULL
     )${tableEnd}`,
    'CREATE INDEX rate_balances_by_time ON rate_balances (at_ms)',

    // The process that runs the job. If that process is dead, the job was interrupted.
    'ALTER TABLE jobs ADD COLUMN runner TEXT',

    // Each process writes only its own counts, so that repeated reads are harmless.
    `CREATE TABLE velocity_tallies (
       process_id TEXT NOT NULL,
       organization_id TEXT NOT NULL REFERENCES organizations (id),
       project_id TEXT NOT NULL,
       wallet TEXT NOT NULL,
       chain_name TEXT NOT NULL,
       window_seconds ${integer} NOT NULL,
       part ${integer} NOT NULL,
       count ${integer} NOT NULL,
       value TEXT NOT NULL,
       sequence ${integer} NOT NULL,
       expires_at_seconds ${integer} NOT NULL,
       PRIMARY KEY (process_id, organization_id, project_id, wallet, chain_name, window_seconds, part)
     )${tableEnd}`,
    'CREATE INDEX velocity_tallies_by_sequence ON velocity_tallies (process_id, sequence)',
    'CREATE INDEX velocity_tallies_by_expiry ON velocity_tallies (expires_at_seconds)',
    `CREATE TABLE velocity_writers (
       process_id TEXT PRIMARY KEY,
       sequence ${integer} NOT NULL,
       expires_at_seconds ${integer} NOT NULL
     )${tableEnd}`,
  ],
}

/** Token of the latest lease of a list's source, so that an outdated reading writes nothing. */
const listSourceToken: Migration = {
  number: 10,
  name: 'list-source-token',
  worksWith: 9,
  // Older programs store an empty token with a changed source. No reading has an empty token.
  statements: () => ["ALTER TABLE list_sources ADD COLUMN token TEXT NOT NULL DEFAULT ''"],
}

/** Order of decisions: the latest decision about a wallet may not belong to its newest session. */
const sessionDecisions: Migration = {
  number: 11,
  name: 'session-decisions',
  statements: ({ integer }) => [
    // The change feed's sequence number at the commit of the decision.
    `ALTER TABLE sessions ADD COLUMN decided_sequence ${integer}`,
    // Orders earlier decisions by time, below every sequence number.
    `UPDATE sessions SET decided_sequence = -10000000000 + COALESCE((
         SELECT MAX(session_events.created_at_seconds) FROM session_events
         WHERE session_events.organization_id = sessions.organization_id AND session_events.session_id = sessions.id
           AND session_events.kind = 'status'), updated_at_seconds)
       WHERE status IN ('completed', 'rejected')`,
  ],
}

/** Offers to existing accounts. Only the organization that created an account may create links for it. */
const membershipOffers: Migration = {
  number: 12,
  name: 'membership-offers',
  statements: ({ integer, bytes, tableEnd }) => [
    'ALTER TABLE users ADD COLUMN made_by_organization_id TEXT',

    // The organization sends the code in a link. Only its hash is stored.
    `CREATE TABLE membership_offers (
       id TEXT PRIMARY KEY NOT NULL,
       organization_id TEXT NOT NULL REFERENCES organizations (id),
       user_id TEXT NOT NULL REFERENCES users (id),
       role TEXT NOT NULL CHECK (role IN ('organization-admin', 'reviewer', 'viewer')),
       code_hash ${bytes} NOT NULL CHECK (length(code_hash) = 32),
       asked_by TEXT NOT NULL,
       asked_by_name TEXT NOT NULL,
       created_at_seconds ${integer} NOT NULL,
       expires_at_seconds ${integer} NOT NULL,
       UNIQUE (organization_id, user_id)
     )${tableEnd}`,
    'CREATE INDEX membership_offers_by_user ON membership_offers (user_id)',
    'CREATE INDEX membership_offers_by_age ON membership_offers (expires_at_seconds)',
  ],
}

export const MIGRATIONS_8_TO_12: readonly Migration[] = [
  policyShadow,
  sharedLimits,
  listSourceToken,
  sessionDecisions,
  membershipOffers,
]
