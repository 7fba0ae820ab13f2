// What was missing when an override completed a session. An older program would complete sessions without the requirement.
import type { Migration } from '../migrations.ts'

export const completionOverride: Migration = {
  number: 30,
  name: 'completion-override',
  statements: () => ['ALTER TABLE session_events ADD COLUMN overridden_parts TEXT'],
}
