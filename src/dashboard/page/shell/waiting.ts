// How many changes wait for a second person, for the navigation: read when another page is opened, once a minute, and after
// anything was asked for or decided here.
import { useEffect, useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { useQuery } from '../data/use-query.ts'
import { isAllowed, type Session } from './session.ts'

const AGAIN_MS = 60_000
const CHANGED = 'dashboard-approvals-changed'

/** After a change of what waits. */
export const readWaitingAgain = (): void => {
  window.dispatchEvent(new Event(CHANGED))
}

/** Calls back when something was asked for or decided here. */
export const useWaitingChanged = (again: () => void): void => {
  useEffect(() => {
    window.addEventListener(CHANGED, again)
    return () => window.removeEventListener(CHANGED, again)
  }, [again])
}

/** Path of a page of the navigation → how many wait there; unknown ones are left out. */
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

/** Null until it was read, and where it could not be: the navigation has more to say than this. */
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
  // What is shown stays until the new figure is there. The first reading is the query's own.
  useEffect(() => {
    if (query.value !== null || query.error !== null) query.reload()
  }, [path, turn])
  return query.value
}
