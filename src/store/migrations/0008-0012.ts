// Migrations 8 to 12.
import type { Migration } from '../migrations.ts'

/** A policy may have a revision whose verdicts are recorded beside the active one's (decisions §4). */
export const policyShadow: Migration = {
  number: 8,
  name: 'policy-shadow',
  statements: () => ['ALTER TABLE policies ADD COLUMN shadow_revision_id TEXT'],
}

/**
 * What the processes of a deployment, on one machine or several, have to know of each other: who lives, who leads, what
 * is left of each key's rate limit, and what each has counted of wallets (docs/many-machines.md, "Shared limits").
 */
export const sharedLimits: Migration = {
  number: 9,
  name: 'shared-limits',
  statements: ({ integer, tableEnd }) => [
    // Whoever's beat no longer changes is gone: no clock is compared with another machine's.
    `CREATE TABLE live_processes (
       id TEXT PRIMARY KEY,
       name TEXT NOT NULL,
       beat ${integer} NOT NULL,
       clock_ms ${integer} NOT NULL,
       started_at_seconds ${integer} NOT NULL
     )${tableEnd}`,

    // The term rises with each change of the holder; '' holds nothing.
    `CREATE TABLE leader_leases (
       name TEXT PRIMARY KEY,
       holder TEXT NOT NULL,
       term ${integer} NOT NULL,
       beat ${integer} NOT NULL
     )${tableEnd}`,

    // Tokens that no process holds, in thousandths; below zero: spent before they came. The time is the processes' own.
    `CREATE TABLE rate_balances (
       key_id TEXT PRIMARY KEY,
       millitokens ${integer} NOT NULL,
       at_ms ${integer} NOT NULL,
       holders TEXT NOT NULL
     )${tableEnd}`,
    'CREATE INDEX rate_balances_by_time ON rate_balances (at_ms)',

    // Which process runs a job: whether it was interrupted depends on whether that one lives.
    'ALTER TABLE jobs ADD COLUMN runner TEXT',

    // Each process writes what it alone has counted, so no two write the same row, and reading twice changes nothing.
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

/** Names the reading that a list's source was last taken for, so that a reading that ends late writes nothing. */
export const listSourceToken: Migration = {
  number: 10,
  name: 'list-source-token',
  worksWith: 9,
  // A program that knows no tokens makes a changed source with the empty one, which no reading has.
  statements: () => ["ALTER TABLE list_sources ADD COLUMN token TEXT NOT NULL DEFAULT ''"],
}

/**
 * The order in which sessions were completed or rejected, so that the newest decision about a wallet can be told from the
 * newest session.
 */
export const sessionDecisions: Migration = {
  number: 11,
  name: 'session-decisions',
  statements: ({ integer }) => [
    // The change feed's sequence number at the commit of the decision.
    `ALTER TABLE sessions ADD COLUMN decided_sequence ${integer}`,
    // Earlier decisions by their time, below every sequence number.
    `UPDATE sessions SET decided_sequence = -10000000000 + COALESCE((
         SELECT MAX(session_events.created_at_seconds) FROM session_events
         WHERE session_events.organization_id = sessions.organization_id AND session_events.session_id = sessions.id
           AND session_events.kind = 'status'), updated_at_seconds)
       WHERE status IN ('completed', 'rejected')`,
  ],
}

/**
 * Offers of a membership to people who have an account already: only their yes makes them members. And which
 * organization made an account, which is the only one that may make another link for it.
 */
export const membershipOffers: Migration = {
  number: 12,
  name: 'membership-offers',
  statements: ({ integer, bytes, tableEnd }) => [
    // Null: the deployment, or made before it was kept.
    'ALTER TABLE users ADD COLUMN made_by_organization_id TEXT',

    // The code is in the link that the organization hands over; only its hash is kept.
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
