// Offers of a membership to people who have an account already: only their yes makes them members. And which
// organization made an account, which is the only one that may make another link for it.
import type { Migration } from '../migrations.ts'

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
