// Counts a wallet's compliant decisions in a project within a window, and their value, including reports of other
// processes. Pending requests also count, so that two concurrent requests can't both be the last permitted.
import type { VelocityTally } from '../domain/velocity.ts'
import type { VelocityFacts } from '../policy/types/facts.ts'
import type { FactSubject } from '../policy/types/needs.ts'

export type VelocitySubject = Pick<FactSubject, 'organizationId' | 'projectId' | 'environment' | 'request'>

export interface VelocityTicket {
  /** Facts by window in seconds, excluding this request. */
  readonly facts: Readonly<Record<string, VelocityFacts>>
  /** Call exactly once, regardless of the outcome. */
  settle(compliant: boolean): void
}

/** Parts per window. The oldest part counts until it is completely outside the window. */
const PARTS = 60

/** Parts above which expired parts are deleted. Others count again after a clock that was ahead is set right. */
const PARTS_KEPT = 2 * PARTS

/** Slack for clocks: more than the time difference between concurrent requests. */
const CLOCK_SLACK_SECONDS = 60

interface Tally {
  count: number
  /** Values by chain, because amounts of different tokens can't be added. */
  readonly values: Map<string, bigint>
}

interface OwnTally extends Omit<VelocityTally, 'count' | 'value'> {
  count: number
  value: bigint
}

interface Part {
  readonly total: Tally
  readonly own: Map<string, OwnTally>
  /** Latest report by process and chain. */
  readonly remote: Map<string, { readonly count: number; readonly value: bigint }>
}

interface History {
  readonly pending: Tally
  /** Parts by window in seconds and part number. */
  readonly windows: Map<number, Map<number, Part>>
  /** Unix seconds at which all counts have expired. */
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
      if (parts !== undefined && parts.size > PARTS_KEPT) parts.delete(number)
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
  const part = parts.get(number) ?? { total: emptyTally(), own: new Map(), remote: new Map() }
  parts.set(number, part)
  return part
}

/** Histories by key, least recently used first. */
type Histories = Map<string, History>

interface Organization {
  readonly histories: Histories
  /** Unix seconds until which wallets reported by other processes may be missing for lack of space. */
  incompleteUntilSeconds: number
  sweptAtSeconds: number
}

const keyOf = ({
  environment,
  projectId,
  wallet,
}: Pick<VelocityTally, 'environment' | 'projectId' | 'wallet'>): string => `${environment} ${projectId} ${wallet}`

export interface VelocityOptions {
  /** Wallets per organization, counted per project. */
  readonly maxWallets?: number
}

export const createVelocityCounters = ({ maxWallets = 100_000 }: VelocityOptions = {}) => {
  // Each organization has its own limit, so that no organization can displace another's wallets.
  const organizations = new Map<string, Organization>()
  const unpublished = new Set<OwnTally>()

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

  /** Removes expired wallets at most once per second. Checks all, because the least recently used may still count. */
  const makeRoom = (organization: Organization, nowSeconds: number): boolean => {
    const { histories, sweptAtSeconds } = organization
    if (histories.size < maxWallets) return true
    // Requests don't arrive in order of time. Removal resumes after the clock was set back.
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
    const { organizationId, projectId, environment, request } = subject
    const { nowSeconds, chain } = request
    for (const windowSeconds of windows) {
      const width = widthOf(windowSeconds)
      const number = Math.floor(nowSeconds / width)
      const expiresAtSeconds = (number + 1) * width + windowSeconds
      const part = partOf(history, windowSeconds, number)
      const own = part.own.get(chain.name) ?? {
        organizationId,
        projectId,
        environment,
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
      unpublished.add(own)
      add(part.total, chain.name, 1, value)
      history.expiresAtSeconds = Math.max(history.expiresAtSeconds, expiresAtSeconds)
    }
  }

  const addRemoteTally = (processId: string, tally: VelocityTally, nowSeconds: number): void => {
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
    const before = part.remote.get(source) ?? { count: 0, value: 0n }
    part.remote.set(source, { count, value })
    add(part.total, chainName, count - before.count, value - before.value)
    history.expiresAtSeconds = Math.max(history.expiresAtSeconds, expiresAtSeconds)
  }

  return {
    /** Returns null at the limit of counted wallets: the facts are unknown. */
    begin: (subject: VelocitySubject, windows: readonly number[]): VelocityTicket | null => {
      const { organizationId, projectId, environment, request } = subject
      const { nowSeconds, chain } = request
      // A policy and its shadow may use the same window.
      const windowsSeconds = [...new Set(windows)]
      const key = keyOf({ environment, projectId, wallet: request.from })
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
          else if (history.pending.count === 0 && history.windows.size === 0) histories.delete(key)
        },
      }
    },
    /** Writes at most `limit` tallies; they stay unwritten if `write` rejects. Returns their number. */
    publish: async (limit: number, write: (tallies: readonly VelocityTally[]) => Promise<void>): Promise<number> => {
      const batch = [...unpublished.values().take(limit)]
      if (batch.length === 0) return 0
      for (const own of batch) unpublished.delete(own)
      try {
        await write(batch.map((own) => ({ ...own, value: own.value.toString() })))
      } catch (error) {
        for (const own of batch) unpublished.add(own)
        throw error
      }
      return batch.length
    },
    /** Replaces another process's earlier report. */
    addRemote: (processId: string, tallies: readonly VelocityTally[], nowSeconds: number) => {
      for (const tally of tallies) addRemoteTally(processId, tally, nowSeconds)
    },
  }
}

export type VelocityCounters = ReturnType<typeof createVelocityCounters>
