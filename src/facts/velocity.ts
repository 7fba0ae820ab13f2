// Counts the compliant decisions of a wallet in a project within a window, and their value. The counts are kept in
// memory, so that a request is answered without waiting: what this process counted, and what other processes reported
// (velocity-exchange.ts).
//
// A request counts from its start until it is denied or fails, and permanently once it is compliant: two concurrent
// requests can't both be the last that a limit allows. A request never counts for itself.
import type { VelocityTally } from '../domain/velocity.ts'
import type { VelocityFacts } from '../policy/types/facts.ts'
import type { FactSubject } from '../policy/types/needs.ts'

/** Whose decisions are counted. */
export type VelocitySubject = Pick<FactSubject, 'organizationId' | 'projectId' | 'request'>

/** A request that is being decided. */
export interface VelocityTicket {
  /** Facts by window in seconds, without this request. */
  readonly facts: Readonly<Record<string, VelocityFacts>>
  /** Call exactly once, however the request ends. */
  settle(compliant: boolean): void
}

export interface VelocityCounters {
  /** @returns null when there is no room to count another wallet, so that nothing can be said about it */
  begin(subject: VelocitySubject, windowsSeconds: readonly number[]): VelocityTicket | null
  /**
   * Passes `write` the tallies that were counted here and not written yet: at most `limit`; `write` is not called when
   * there are none. Returns their number. If `write` rejects, they are passed again next time.
   */
  tell(limit: number, write: (tallies: readonly VelocityTally[]) => Promise<void>): Promise<number>
  /** Stores what another process counted, in place of its earlier report. */
  hear(processId: string, tallies: readonly VelocityTally[], nowSeconds: number): void
}

/** A window is counted in this many parts: the oldest part counts until all of it is outside the window. */
const PARTS = 60

/** Larger than the time between requests that are under way together. */
const CLOCK_SLACK_SECONDS = 60

interface Tally {
  count: number
  /** By chain, because values of different native tokens can't be added. */
  readonly values: Map<string, bigint>
}

/** This process's running count. */
interface OwnTally extends Omit<VelocityTally, 'count' | 'value'> {
  count: number
  value: bigint
}

interface Part {
  /** Sum over all processes. */
  readonly total: Tally
  /** By chain. */
  readonly own: Map<string, OwnTally>
  /** The latest report by process and chain. */
  readonly heard: Map<string, { readonly count: number; readonly value: bigint }>
}

interface History {
  readonly pending: Tally
  /** Window in seconds → part's number → what was in it. */
  readonly windows: Map<number, Map<number, Part>>
  /** When none of it counts any more, Unix seconds. */
  expiresAtSeconds: number
}

const emptyTally = (): Tally => ({ count: 0, values: new Map() })

const add = (tally: Tally, chainName: string, count: number, value: bigint): void => {
  tally.count += count
  tally.values.set(chainName, (tally.values.get(chainName) ?? 0n) + value)
}

const widthOf = (windowSeconds: number): number => Math.max(1, Math.ceil(windowSeconds / PARTS))

const factsOf = (history: History, windowSeconds: number, chainName: string, nowSeconds: number): VelocityFacts => {
  const width = widthOf(windowSeconds)
  let { count } = history.pending
  let value = history.pending.values.get(chainName) ?? 0n
  const parts = history.windows.get(windowSeconds)
  for (const [number, { total }] of parts ?? []) {
    if ((number + 1) * width <= nowSeconds - windowSeconds) {
      parts?.delete(number)
      continue
    }
    count += total.count
    value += total.values.get(chainName) ?? 0n
  }
  return { count, value: value.toString() }
}

const partOf = (history: History, windowSeconds: number, number: number): Part => {
  const parts = history.windows.get(windowSeconds) ?? new Map<number, Part>()
  history.windows.set(windowSeconds, parts)
  const part = parts.get(number) ?? { total: emptyTally(), own: new Map(), heard: new Map() }
  parts.set(number, part)
  return part
}

/** The histories of one organization, least recently used first. */
type Histories = Map<string, History>

interface Organization {
  readonly histories: Histories
  /** Until this time there may be wallets that other processes reported and that had no room here, Unix seconds. */
  incompleteUntilSeconds: number
  /** When wallets were last forgotten, Unix seconds. */
  sweptAtSeconds: number
}

const keyOf = ({ projectId, wallet }: Pick<VelocityTally, 'projectId' | 'wallet'>): string => `${projectId} ${wallet}`

export interface VelocityOptions {
  /** Maximum number of wallets (per project) counted for one organization at a time. */
  readonly maxWallets?: number
}

export const createVelocityCounters = ({ maxWallets = 100_000 }: VelocityOptions = {}): VelocityCounters => {
  // Each organization has its own room, so that no organization can take another's.
  const organizations = new Map<string, Organization>()
  const untold = new Set<OwnTally>()

  const organizationOf = (organizationId: string): Organization => {
    const known = organizations.get(organizationId)
    if (known !== undefined) return known
    const organization: Organization = {
      histories: new Map(),
      incompleteUntilSeconds: 0,
      sweptAtSeconds: Number.NEGATIVE_INFINITY,
    }
    organizations.set(organizationId, organization)
    return organization
  }

  /**
   * Drops all wallets whose counts have lapsed. It checks every wallet, because even the least recently used one may
   * count for a month. It runs at most once a second: within one second no further wallet lapses.
   */
  const makeRoom = (organization: Organization, nowSeconds: number): boolean => {
    const { histories, sweptAtSeconds } = organization
    if (histories.size < maxWallets) return true
    // Requests do not arrive in the order of their seconds. A clock that was set back starts anew.
    if (nowSeconds <= sweptAtSeconds && nowSeconds > sweptAtSeconds - CLOCK_SLACK_SECONDS) return false
    organization.sweptAtSeconds = nowSeconds
    for (const [key, { expiresAtSeconds, pending }] of histories) {
      if (expiresAtSeconds <= nowSeconds && pending.count === 0) histories.delete(key)
    }
    return histories.size < maxWallets
  }

  const open = (organization: Organization, key: string, nowSeconds: number): History | null => {
    const { histories } = organization
    const known = histories.get(key)
    if (known === undefined && !makeRoom(organization, nowSeconds)) return null
    const history = known ?? { pending: emptyTally(), windows: new Map(), expiresAtSeconds: 0 }
    histories.delete(key)
    histories.set(key, history)
    return history
  }

  const record = (history: History, subject: VelocitySubject, windows: readonly number[], value: bigint): void => {
    const { organizationId, projectId, request } = subject
    const { nowSeconds, chain } = request
    for (const windowSeconds of windows) {
      const width = widthOf(windowSeconds)
      const number = Math.floor(nowSeconds / width)
      const expiresAtSeconds = (number + 1) * width + windowSeconds
      const part = partOf(history, windowSeconds, number)
      const own = part.own.get(chain.name) ?? {
        organizationId,
        projectId,
        wallet: request.from,
        chainName: chain.name,
        windowSeconds,
        part: number,
        expiresAtSeconds,
        count: 0,
        value: 0n,
      }
      part.own.set(chain.name, own)
      own.count += 1
      own.value += value
      untold.add(own)
      add(part.total, chain.name, 1, value)
      history.expiresAtSeconds = Math.max(history.expiresAtSeconds, expiresAtSeconds)
    }
  }

  const hearOne = (processId: string, tally: VelocityTally, nowSeconds: number): void => {
    const { chainName, windowSeconds, count, expiresAtSeconds } = tally
    if (expiresAtSeconds <= nowSeconds) return
    const organization = organizationOf(tally.organizationId)
    const history = open(organization, keyOf(tally), nowSeconds)
    if (history === null) {
      organization.incompleteUntilSeconds = Math.max(organization.incompleteUntilSeconds, expiresAtSeconds)
      return
    }
    const part = partOf(history, windowSeconds, tally.part)
    const source = `${processId} ${chainName}`
    const value = BigInt(tally.value)
    const before = part.heard.get(source) ?? { count: 0, value: 0n }
    part.heard.set(source, { count, value })
    add(part.total, chainName, count - before.count, value - before.value)
    history.expiresAtSeconds = Math.max(history.expiresAtSeconds, expiresAtSeconds)
  }

  return {
    begin: (subject, windows) => {
      const { organizationId, projectId, request } = subject
      const { nowSeconds, chain } = request
      // A policy and its shadow revision may ask for the same window.
      const windowsSeconds = [...new Set(windows)]
      const key = keyOf({ projectId, wallet: request.from })
      const organization = organizationOf(organizationId)
      const { histories, incompleteUntilSeconds } = organization
      if (nowSeconds < incompleteUntilSeconds && !histories.has(key)) return null
      const history = open(organization, key, nowSeconds)
      if (history === null) return null
      const facts = Object.fromEntries(
        windowsSeconds.map((window) => [String(window), factsOf(history, window, chain.name, nowSeconds)]),
      )
      const value = BigInt(request.value)
      add(history.pending, chain.name, 1, value)
      return {
        facts,
        settle: (compliant) => {
          add(history.pending, chain.name, -1, -value)
          if (compliant) record(history, subject, windowsSeconds, value)
          else if (history.pending.count === 0 && history.expiresAtSeconds <= nowSeconds) histories.delete(key)
        },
      }
    },
    tell: async (limit, write) => {
      const told = [...untold.values().take(limit)]
      if (told.length === 0) return 0
      for (const own of told) untold.delete(own)
      try {
        await write(told.map((own) => ({ ...own, value: own.value.toString() })))
      } catch (error) {
        for (const own of told) untold.add(own)
        throw error
      }
      return told.length
    },
    hear: (processId, tallies, nowSeconds) => {
      for (const tally of tallies) hearOne(processId, tally, nowSeconds)
    },
  }
}
