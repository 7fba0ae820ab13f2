// Stores the current checks of one part of a session.
import type { Store } from '../../src/store/store.ts'

type Made = Parameters<Store['sessionChecks']['replaceUnchanged']>[2][number]

/** @returns the number of new hits */
export const replaceChecks = async (
  { sessions, sessionChecks }: Pick<Store, 'sessions' | 'sessionChecks'>,
  { organizationId, sessionId }: { readonly organizationId: string; readonly sessionId: string },
  part: string,
  checks: Made['checks'],
): Promise<number> => {
  const sequence = (await sessions.find(organizationId, sessionId))?.session.sequence ?? 0
  const { opened } = await sessionChecks.replaceUnchanged(organizationId, part, [{ sessionId, sequence, checks }])
  return opened.get(sessionId) ?? 0
}
