// What the processes of a deployment, on one machine or several, have to know of each other: who lives, who leads, what
// is left of each key's rate limit, and what each has counted of wallets (docs/many-machines.md, "Shared limits").
import type { Migration } from '../migrations.ts'

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
