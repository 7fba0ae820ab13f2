// What the second person's rule has to know: who made an account or let it in, since when it has its rights, and each
// request exactly as it was sent. Accounts from before were made by nobody in particular.
import type { Migration } from '../migrations.ts'

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
