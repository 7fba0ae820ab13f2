// The current request's organization and end, so that shared work can take turns without a parameter in every function.
import { AsyncLocalStorage } from 'node:async_hooks'

export interface Caller {
  /** The organization's id. Empty for the deployment, and for work outside requests. */
  readonly owner: string
  /** The client's network (`networkOf`), for lookups before the organization is known. */
  readonly network?: string
  readonly signal: AbortSignal | null
}

const NO_REQUEST: Caller = { owner: '', signal: null }
const callers = new AsyncLocalStorage<{ caller: Caller }>()

/** Work that continues after the returned promise has settled belongs to no request. */
export const runFor = async <Result>(caller: Caller, work: () => Promise<Result>): Promise<Result> => {
  const current = { caller }
  try {
    return await callers.run(current, work)
  } finally {
    // Timers and background work that the request has started keep its context.
    current.caller = NO_REQUEST
  }
}

/** Call for a request that started before its organization was known. */
export const assignOwner = (owner: string): void => {
  const current = callers.getStore()
  if (current !== undefined) current.caller = { ...current.caller, owner }
}

export const currentCaller = (): Caller => callers.getStore()?.caller ?? NO_REQUEST
