// Says of a claimed idempotency key which node may have signed for it, so that another node does not sign beside it.
import type { Migration } from '../migrations.ts'

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
