// A policy may have a revision whose verdicts are recorded beside the active one's (decisions §4).
import type { Migration } from '../migrations.ts'

export const policyShadow: Migration = {
  number: 8,
  name: 'policy-shadow',
  statements: () => ['ALTER TABLE policies ADD COLUMN shadow_revision_id TEXT'],
}
