// The order in which sessions were completed or rejected, so that the newest decision about a wallet can be told from the
// newest session.
import type { Migration } from '../migrations.ts'

export const sessionDecisions: Migration = {
  number: 11,
  name: 'session-decisions',
  statements: ({ integer }) => [
    // The change feed's sequence number at the commit of the decision.
    `ALTER TABLE sessions ADD COLUMN decided_sequence ${integer}`,
    // Earlier decisions by their time, below every sequence number.
    `UPDATE sessions SET decided_sequence = -10000000000 + COALESCE((
         SELECT MAX(session_events.created_at_seconds) FROM session_events
         WHERE session_events.organization_id = sessions.organization_id AND session_events.session_id = sessions.id
           AND session_events.kind = 'status'), updated_at_seconds)
       WHERE status IN ('completed', 'rejected')`,
  ],
}
