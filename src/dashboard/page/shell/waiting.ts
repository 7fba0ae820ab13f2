// Numbers of sessions and changes that await a decision, read after each navigation, after changes on this page, and
// once per minute.
import { createContext } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { type AnswerOf, call } from '../api/client.ts'
import { useQuery } from '../data/use-query.ts'
import { isAllowed, type Session } from './session.ts'

const AGAIN_MS = 60_000
const CHANGED = 'dashboard-approvals-changed'

/** Must be called after waiting changes are added or decided. */
export const readWaitingAgain = (): void => {
  window.dispatchEvent(new Event(CHANGED))
}

export const useWaitingChanged = (again: () => void): void => {
  useEffect(() => {
    window.addEventListener(CHANGED, again)
    return () => window.removeEventListener(CHANGED, again)
  }, [again])
}

/** Without an organization, contains only changes to the deployment. */
type Waiting = Partial<AnswerOf<'GET /organizations/{organization}/waiting'>>

export const WaitingContext = createContext<Waiting | null>(null)

const read = async (organization: string | null, ofDeployment: boolean, signal: AbortSignal): Promise<Waiting> => {
  if (organization !== null) {
    return call('GET /organizations/{organization}/waiting', { params: { organization }, signal })
  }
  return ofDeployment ? { deployment_approvals: (await call('GET /approvals/waiting', { signal })).waiting } : {}
}

/** Returns null until the numbers are read, or if this fails: the navigation works without them. */
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
  // The query performs the first read. The previous number stays visible during a reload.
  useEffect(() => {
    if (query.value !== null || query.error !== null) query.reload()
  }, [path, turn])
  return query.value
}

export const waitingLabel = (waiting: Waiting | null, pattern: string): string | null => {
  const { reviews, approvals = 0, deployment_approvals: shared } = waiting ?? {}
  if (pattern === '/o/{organization}/reviews' && reviews !== undefined && !reviews.exact) return `${reviews.waiting}+`
  const counts: Readonly<Record<string, number>> = {
    '/o/{organization}/reviews': reviews?.waiting ?? 0,
    '/o/{organization}/approvals': approvals,
    '/approvals': shared ?? 0,
  }
  const count = counts[pattern] ?? 0
  return count === 0 ? null : String(count)
}
