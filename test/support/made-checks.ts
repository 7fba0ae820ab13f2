// Marks the checks of a submitted session as made, as the runner of checks does when it has none to make.
import type { Store } from '../../src/store/store.ts'

export const markChecksMade = async (
  { sessions, sessionChecks }: Pick<Store, 'sessions' | 'sessionChecks'>,
  organizationId: string,
  sessionId: string,
): Promise<void> => {
  const sequence = (await sessions.find(organizationId, sessionId))?.session.sequence ?? 0
  await sessionChecks.markMade({ organizationId, sessionId, sequence })
}
