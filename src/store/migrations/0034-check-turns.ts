// Organizations take turns in the queue of checks, so its index begins with the organization. An older program reads the queue
// without the index.
import type { Migration } from '../migrations.ts'

export const checkTurns: Migration = {
  number: 34,
  name: 'check-turns',
  worksWith: 33,
  statements: () => [
    'DROP INDEX session_check_queue_due',
    'CREATE INDEX session_check_queue_turns ON session_check_queue (organization_id, due_at_seconds)',
  ],
}
