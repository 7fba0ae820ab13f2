// Claims of idempotency keys whose answers are in the decision log: a row for all claims of one commit, in a form that
// src/store/claim-log/ reads. One machine alone uses it; nodes of a deployment keep theirs in `idempotency`.
import type { Migration } from '../migrations.ts'

export const claimGroups: Migration = {
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
