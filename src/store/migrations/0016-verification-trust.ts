// Whose verifications an organization relies on: everyone's unless it says otherwise.
import type { Migration } from '../migrations.ts'

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
