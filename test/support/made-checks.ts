// Marks the checks of a session as done, as the check runner does if there are none. Queues them first for a session
// that was never submitted, as an operator's attempt to complete it does.
import type { Store } from '../../src/store/store.ts'

export const markChecksMade = async (
  { sessions, sessionChecks }: Pick<Store, 'sessions' | 'sessionChecks'>,
  organizationId: string,
  sessionId: string,
): Promise<void> => {
  await sessions.queueMissingChecks(organizationId, sessionId)
  const sequence = (await sessions.find(organizationId, sessionId))?.session.sequence ?? 0
  await sessionChecks.markMade({ organizationId, sessionId, sequence })
}
