// The request for which code runs: its organization and its end. Shared work, for example of the store, takes turns by
// organization without a parameter in every function between.
import { AsyncLocalStorage } from 'node:async_hooks'

export interface Caller {
  /** The organization's id. Empty for the deployment, and for work outside requests. */
  readonly owner: string
  /** The client's network (`networkOf`), for lookups before the organization is known. Empty or absent if unknown. */
  readonly network?: string
  /** Aborted when the request has ended. */
  readonly signal: AbortSignal | null
}

const NO_REQUEST: Caller = { owner: '', signal: null }
const callers = new AsyncLocalStorage<{ caller: Caller }>()

/** Runs the work of a request. Work that continues after the returned promise has settled belongs to no request. */
export const runFor = async <Result>(caller: Caller, work: () => Promise<Result>): Promise<Result> => {
  const current = { caller }
  try {
    return await callers.run(current, work)
  } finally {
    // Timers and background work that the request has started keep its context.
    current.caller = NO_REQUEST
  }
}

/** Assigns the running request to an organization that wasn't known when the request started. */
export const assignOwner = (owner: string): void => {
  const current = callers.getStore()
  if (current !== undefined) current.caller = { ...current.caller, owner }
}

export const currentCaller = (): Caller => callers.getStore()?.caller ?? NO_REQUEST
