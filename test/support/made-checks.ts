// Marks the checks of a session as made, as the runner of checks does when it has none to make. A session that was never
// submitted has them queued first, as an operator's attempt to complete it does.
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
