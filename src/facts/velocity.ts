// How often and how much: compliant decisions of a wallet in a project within a window. Kept in the memory of this
// process: a restart begins anew, and several processes count for themselves.
//
// A request counts from when it is asked to when it is denied or fails, and for good when it is compliant: two at the
// same moment can't both be the last that a limit allows. It never counts for itself.
import type { VelocityFacts } from '../policy/types.ts'

/** Of whom. */
export interface VelocitySubject {
  readonly organizationId: string
  readonly projectId: string
  readonly wallet: string
  readonly chainName: string
  /** Wei or lamports, canonical decimal. */
  readonly value: string
  readonly nowSeconds: number
}

/** A request that is being decided. */
export interface VelocityTicket {
  /** By the window in seconds, without this request. */
  readonly facts: Readonly<Record<string, VelocityFacts>>
  /** To be called once, however the request ends. */
  settle(compliant: boolean): void
}

export interface VelocityCounters {
  /** Null: there is no room to count another wallet, so nothing can be said. */
  begin(subject: VelocitySubject, windowsSeconds: readonly number[]): VelocityTicket | null
}

/** Parts that a window is counted in: what is in the oldest one counts until all of it is out of the window. */
const PARTS = 60

interface Tally {
  count: number
  /** By chain: their tokens are not the same. */
  readonly values: Map<string, bigint>
}

interface History {
  readonly pending: Tally
  /** Window in seconds → part's number → what was in it. */
  readonly windows: Map<number, Map<number, Tally>>
  /** When nothing of it counts any more, Unix seconds. */
  expiresAtSeconds: number
}

const emptyTally = (): Tally => ({ count: 0, values: new Map() })

const add = (tally: Tally, chainName: string, count: 1 | -1, value: bigint): void => {
  tally.count += count
  tally.values.set(chainName, (tally.values.get(chainName) ?? 0n) + BigInt(count) * value)
}

const widthOf = (windowSeconds: number): number => Math.max(1, Math.ceil(windowSeconds / PARTS))

const factsOf = (history: History, windowSeconds: number, chainName: string, nowSeconds: number): VelocityFacts => {
  const width = widthOf(windowSeconds)
  let { count } = history.pending
  let value = history.pending.values.get(chainName) ?? 0n
  const parts = history.windows.get(windowSeconds)
  for (const [number, tally] of parts ?? []) {
    if ((number + 1) * width <= nowSeconds - windowSeconds) {
      parts?.delete(number)
      continue
    }
    count += tally.count
    value += tally.values.get(chainName) ?? 0n
  }
  return { count, value: value.toString() }
}

/** One organization's, least recently used first. */
type Histories = Map<string, History>

export interface VelocityOptions {
  /** Wallets (per project) of an organization that are counted at a time. */
  readonly maxWallets?: number
}

export const createVelocityCounters = ({ maxWallets = 100_000 }: VelocityOptions = {}): VelocityCounters => {
  // Each organization has its own room: none can take the others'.
  const organizations = new Map<string, Histories>()

  const historiesOf = (organizationId: string): Histories => {
    const known = organizations.get(organizationId)
    if (known !== undefined) return known
    const histories: Histories = new Map()
    organizations.set(organizationId, histories)
    return histories
  }

  /** Forgets wallets of which nothing counts any more, oldest use first. */
  const makeRoom = (histories: Histories, nowSeconds: number): boolean => {
    for (const [key, { expiresAtSeconds, pending }] of histories) {
      if (histories.size < maxWallets) break
      if (expiresAtSeconds > nowSeconds || pending.count > 0) break
      histories.delete(key)
    }
    return histories.size < maxWallets
  }

  const open = (histories: Histories, key: string, nowSeconds: number): History | null => {
    const known = histories.get(key)
    if (known === undefined && !makeRoom(histories, nowSeconds)) return null
    const history = known ?? { pending: emptyTally(), windows: new Map(), expiresAtSeconds: 0 }
    histories.delete(key)
    histories.set(key, history)
    return history
  }

  const record = (
    history: History,
    { chainName, nowSeconds }: VelocitySubject,
    windows: readonly number[],
    value: bigint,
  ) => {
    for (const windowSeconds of windows) {
      const width = widthOf(windowSeconds)
      const number = Math.floor(nowSeconds / width)
      const parts = history.windows.get(windowSeconds) ?? new Map<number, Tally>()
      history.windows.set(windowSeconds, parts)
      const tally = parts.get(number) ?? emptyTally()
      parts.set(number, tally)
      add(tally, chainName, 1, value)
      history.expiresAtSeconds = Math.max(history.expiresAtSeconds, (number + 1) * width + windowSeconds)
    }
  }

  return {
    begin: (subject, windowsSeconds) => {
      const { projectId, wallet, chainName, nowSeconds } = subject
      const key = `${projectId} ${wallet}`
      const histories = historiesOf(subject.organizationId)
      const history = open(histories, key, nowSeconds)
      if (history === null) return null
      const facts = Object.fromEntries(
        windowsSeconds.map((window) => [String(window), factsOf(history, window, chainName, nowSeconds)]),
      )
      const value = BigInt(subject.value)
      add(history.pending, chainName, 1, value)
      return {
        facts,
        settle: (compliant) => {
          add(history.pending, chainName, -1, value)
          if (compliant) record(history, subject, windowsSeconds, value)
          else if (history.pending.count === 0 && history.expiresAtSeconds <= nowSeconds) histories.delete(key)
        },
      }
    },
  }
}
