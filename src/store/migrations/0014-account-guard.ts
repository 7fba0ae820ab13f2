// What guards accounts: how many guesses a place or an account has made lately, when a person last proved who they are,
// and whether an organization demands a second factor.
import type { Migration } from '../migrations.ts'

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
