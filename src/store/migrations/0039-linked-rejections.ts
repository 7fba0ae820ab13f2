// Rejections that only an operator lifts, and their persons that other organizations identified later.
import type { Migration } from '../migrations.ts'

/**
 * Rejections by screening count as rejections by an operator. Persons of shared sessions are added to earlier
 * rejections of their wallets. An older program would complete sessions of these persons automatically.
 */
export const linkedRejections: Migration = {
  number: 39,
  name: 'linked-rejections',
  statements: () => [
    'ALTER TABLE session_rejections RENAME COLUMN by_operator TO needs_operator',
    `UPDATE session_rejections SET needs_operator = 1 WHERE EXISTS (SELECT 1 FROM session_events
       WHERE session_events.organization_id = session_rejections.organization_id
         AND session_events.session_id = session_rejections.session_id AND session_events.kind = 'status'
         AND session_events.status = 'rejected' AND session_events.actor = 'screening')`,
    `INSERT INTO session_rejections (subject, organization_id, environment, session_id, needs_operator, decided_sequence)
       SELECT DISTINCT sessions.person_id, rejected.organization_id, rejected.environment, rejected.session_id,
         rejected.needs_operator, rejected.decided_sequence
       FROM session_rejections rejected
       JOIN session_wallets held ON held.address = rejected.subject AND held.environment = rejected.environment
         AND held.organization_id <> rejected.organization_id
       JOIN sessions ON sessions.organization_id = held.organization_id AND sessions.id = held.session_id
       WHERE sessions.status = 'completed' AND sessions.consented_at_seconds IS NOT NULL
         AND sessions.person_id IS NOT NULL
       ON CONFLICT (subject, organization_id, environment, session_id) DO NOTHING`,
  ],
}
