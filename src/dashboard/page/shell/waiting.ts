// Number of changes that wait for a second person, for the navigation. Read after each navigation, once per minute, and
// after requests and decisions on this page.
import { useEffect, useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { useQuery } from '../data/use-query.ts'
import { isAllowed, type Session } from './session.ts'

const AGAIN_MS = 60_000
const CHANGED = 'dashboard-approvals-changed'

/** Must be called after waiting changes are added or decided. */
export const readWaitingAgain = (): void => {
  window.dispatchEvent(new Event(CHANGED))
}

/** Calls back after a request or decision on this page. */
export const useWaitingChanged = (again: () => void): void => {
  useEffect(() => {
    window.addEventListener(CHANGED, again)
    return () => window.removeEventListener(CHANGED, again)
  }, [again])
}

/** Maps paths of the navigation to numbers of waiting changes; unknown numbers are omitted. */
export type Waiting = Readonly<Record<string, number>>

const read = async (organizationId: string | null, ofDeployment: boolean, signal: AbortSignal): Promise<Waiting> => {
  const [own, shared] = await Promise.all([
    organizationId === null
      ? null
      : call('GET /organizations/{organization}/approvals/waiting', {
          params: { organization: organizationId },
          signal,
        }),
    ofDeployment ? call('GET /approvals/waiting', { signal }) : null,
  ])
  return { '/o/{organization}/approvals': own?.waiting ?? 0, '/approvals': shared?.waiting ?? 0 }
}

/** Returns null until the numbers are read or if this fails, because the navigation works without them. */
export const useWaiting = ({ account, organization }: Session, path: string): Waiting | null => {
  const id = isAllowed('viewer', account, organization) ? (organization?.id ?? null) : null
  const ofDeployment = isAllowed('deployment', account, organization)
  const [turn, setTurn] = useState(0)
  const query = useQuery((signal) => read(id, ofDeployment, signal), [id, ofDeployment])
  useEffect(() => {
    const again = (): void => setTurn((now) => now + 1)
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') again()
    }, AGAIN_MS)
    window.addEventListener(CHANGED, again)
    return () => {
      clearInterval(timer)
      window.removeEventListener(CHANGED, again)
    }
  }, [])
  // The shown number stays until the new one is read. The query performs the first read itself.
  useEffect(() => {
    if (query.value !== null || query.error !== null) query.reload()
  }, [path, turn])
  return query.value
}
