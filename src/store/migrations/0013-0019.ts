import type { Migration } from '../migrations.ts'

/** The previous version writes entries without an address. Its chain verification stops at the first entry with one. */
const auditAddress: Migration = {
  number: 13,
  name: 'audit-address',
  worksWith: 12,
  statements: () => ["ALTER TABLE audit_log ADD COLUMN address TEXT NOT NULL DEFAULT ''"],
}

const accountGuard: Migration = {
  number: 14,
  name: 'account-guard',
  statements: ({ integer, tableEnd }) => [
    // One row per slot, so that attempts cannot fill the table (sign-in-counters.ts).
    `CREATE TABLE sign_in_counters (
       slot ${integer} PRIMARY KEY NOT NULL,
       clear_at_seconds ${integer} NOT NULL
     )${tableEnd}`,
    'CREATE INDEX sign_in_counters_by_time ON sign_in_counters (clear_at_seconds)',

    // Time of the last check of the password or a passkey in this session; 0 if unknown.
    `ALTER TABLE user_sessions ADD COLUMN confirmed_at_seconds ${integer} NOT NULL DEFAULT 0`,

    `ALTER TABLE organization_settings ADD COLUMN require_second_factor ${integer} NOT NULL DEFAULT 0`,
  ],
}

/** Finds unused browsers of the verification page, which expire. */
const portalUnused: Migration = {
  number: 15,
  name: 'portal-unused',
  worksWith: 14,
  statements: () => ['CREATE INDEX portal_browsers_by_use ON portal_browsers (bound_at_seconds)'],
}

/** The organizations whose verifications an organization trusts. Defaults to all. */
const verificationTrust: Migration = {
  number: 16,
  name: 'verification-trust',
  statements: ({ tableEnd }) => [
    "ALTER TABLE organizations ADD COLUMN trusts TEXT NOT NULL DEFAULT 'all' CHECK (trusts IN ('all', 'listed'))",
    `CREATE TABLE trusted_organizations (
       organization_id TEXT NOT NULL REFERENCES organizations (id),
       trusted_id TEXT NOT NULL REFERENCES organizations (id),
       PRIMARY KEY (organization_id, trusted_id)
     )${tableEnd}`,
  ],
}

/** Creators of accounts and rights, the age of rights, and requests as submitted. */
const secondPerson: Migration = {
  number: 17,
  name: 'second-person',
  statements: ({ integer, tableEnd }) => [
    // An empty organization means the account itself or its right as a deployment admin.
    `CREATE TABLE account_makers (
       user_id TEXT NOT NULL REFERENCES users (id),
       maker_id TEXT NOT NULL,
       organization_id TEXT NOT NULL,
       kind TEXT NOT NULL CHECK (kind IN ('made', 'recovered')),
       PRIMARY KEY (user_id, maker_id, organization_id, kind)
     )${tableEnd}`,
    `ALTER TABLE users ADD COLUMN deployment_admin_since_seconds ${integer}`,
    `ALTER TABLE memberships ADD COLUMN role_since_seconds ${integer}`,
    'ALTER TABLE approvals ADD COLUMN request TEXT',
  ],
}

/** Records the node that may have signed for a claimed idempotency key, so that no other node also signs. */
const claimNodes: Migration = {
  number: 18,
  name: 'claim-nodes',
  statements: ({ integer }) => [
    ...['idempotency', 'admin_idempotency'].flatMap((table) => [
      `ALTER TABLE ${table} ADD COLUMN node TEXT NOT NULL DEFAULT ''`,
      `ALTER TABLE ${table} ADD COLUMN dispatched ${integer} NOT NULL DEFAULT 1`,
      `ALTER TABLE ${table} ADD COLUMN uuid_since_seconds ${integer} NOT NULL DEFAULT 0`,
    ]),
    `CREATE INDEX idempotency_unanswered ON idempotency (node, claim_expires_at_seconds)
     WHERE node <> '' AND response_status IS NULL`,
  ],
}

const portalWords: Migration = {
  number: 19,
  name: 'portal-words',
  worksWith: 18,
  statements: () =>
    ['privacy_url', 'support_email', 'words_en', 'words_de'].map(
      (column) => `ALTER TABLE organization_brands ADD COLUMN ${column} TEXT`,
    ),
}

export const MIGRATIONS_13_TO_19: readonly Migration[] = [
  auditAddress,
  accountGuard,
  portalUnused,
  verificationTrust,
  secondPerson,
  claimNodes,
  portalWords,
]
