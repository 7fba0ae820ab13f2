// Browsers of the verification page are let go after they were not used for a while: found by when they were last.
import type { Migration } from '../migrations.ts'

export const portalUnused: Migration = {
  number: 15,
  name: 'portal-unused',
  worksWith: 14,
  statements: () => ['CREATE INDEX portal_browsers_by_use ON portal_browsers (bound_at_seconds)'],
}
