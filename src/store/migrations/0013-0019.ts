// Migrations 13 to 19.
import type { Migration } from '../migrations.ts'

/**
 * Where a change came from. Programs of the version before go on writing entries without it; their own check of the chain
 * stops at the first entry that has an address, since its hash covers that too.
 */
export const auditAddress: Migration = {
  number: 13,
  name: 'audit-address',
  worksWith: 12,
  statements: () => ["ALTER TABLE audit_log ADD COLUMN address TEXT NOT NULL DEFAULT ''"],
}

/**
 * What guards accounts: how many guesses a place or an account has made lately, when a person last proved who they are,
 * and whether an organization demands a second factor.
 */
export const accountGuard: Migration = {
  number: 14,
  name: 'account-guard',
  statements: ({ integer, tableEnd }) => [
    // One row a slot. There are as many slots as numbers that a slot may have, whatever is tried (sign-in-counters.ts).
    `CREATE TABLE sign_in_counters (
       slot ${integer} PRIMARY KEY NOT NULL,
       clear_at_seconds ${integer} NOT NULL
     )${tableEnd}`,
    'CREATE INDEX sign_in_counters_by_time ON sign_in_counters (clear_at_seconds)',

    // When the password or a passkey was last checked in this session; 0: before there was such a column.
    `ALTER TABLE user_sessions ADD COLUMN confirmed_at_seconds ${integer} NOT NULL DEFAULT 0`,

    `ALTER TABLE organization_settings ADD COLUMN require_second_factor ${integer} NOT NULL DEFAULT 0`,
  ],
}

/** Browsers of the verification page are let go after they were not used for a while: found by when they were last. */
export const portalUnused: Migration = {
  number: 15,
  name: 'portal-unused',
  worksWith: 14,
  statements: () => ['CREATE INDEX portal_browsers_by_use ON portal_browsers (bound_at_seconds)'],
}

/** Whose verifications an organization relies on: everyone's unless it says otherwise. */
export const verificationTrust: Migration = {
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

/**
 * What the second person's rule has to know: who made an account or let it in, since when it has its rights, and each
 * request exactly as it was sent. Accounts from before were made by nobody in particular.
 */
export const secondPerson: Migration = {
  number: 17,
  name: 'second-person',
  statements: ({ integer, tableEnd }) => [
    // An empty organization: the account itself, or its being a deployment admin. `recovered`: the maker was handed a link
    // that sets a new password, and could sign in as the account. The maker is an account, or `command-line`.
    `CREATE TABLE account_makers (
       user_id TEXT NOT NULL REFERENCES users (id),
       maker_id TEXT NOT NULL,
       organization_id TEXT NOT NULL,
       kind TEXT NOT NULL CHECK (kind IN ('made', 'recovered')),
       PRIMARY KEY (user_id, maker_id, organization_id, kind)
     )${tableEnd}`,
    // Null: since the account, or the membership, was made.
    `ALTER TABLE users ADD COLUMN deployment_admin_since_seconds ${integer}`,
    `ALTER TABLE memberships ADD COLUMN role_since_seconds ${integer}`,
    // JSON. Null: asked for before there was this column.
    'ALTER TABLE approvals ADD COLUMN request TEXT',
  ],
}

/** Says of a claimed idempotency key which node may have signed for it, so that another node does not sign beside it. */
export const claimNodes: Migration = {
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

/**
 * What an organization says to people on the verification page beside its look: its own words by language, its privacy
 * policy, and where to ask for help.
 */
export const portalWords: Migration = {
  number: 19,
  name: 'portal-words',
  worksWith: 18,
  statements: () =>
    ['privacy_url', 'support_email', 'words_en', 'words_de'].map(
      (column) => `ALTER TABLE organization_brands ADD COLUMN ${column} TEXT`,
    ),
}
