import { newSessionId } from '../domain/identifier.ts'
import type { Register } from '../identity/sessions/register.ts'
import type { Tables } from '../store/store.ts'
import type { Services } from './services.ts'

export const createSessionMaker = (registerIn: (tables: Tables) => Register): Services['identity']['sessions'] => ({
  make: async (tables, { walletAddress, originUrl, ...session }) => {
    const { created, sessionId, link } = await registerIn(tables).register({
      ...session,
      request: { walletAddress, originUrl },
      sessionId: newSessionId(),
      keyId: null,
      forcedOutcome: null,
    })
    return { created, sessionId, link: link.url }
  },
  link: async (tables, organizationId, sessionId) =>
    (await registerIn(tables).relink(organizationId, sessionId, false, null)).url,
})
