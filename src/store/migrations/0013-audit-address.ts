// Where a change came from. Programs of the version before go on writing entries without it; their own check of the chain
// stops at the first entry that has an address, since its hash covers that too.
import type { Migration } from '../migrations.ts'

export const auditAddress: Migration = {
  number: 13,
  name: 'audit-address',
  worksWith: 12,
  statements: () => ["ALTER TABLE audit_log ADD COLUMN address TEXT NOT NULL DEFAULT ''"],
}
