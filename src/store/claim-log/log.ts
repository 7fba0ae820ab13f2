// A log of claims on SQLite: several claims per row, found with a table in memory, because one indexed row per claim
// costs several times more. Each process reads the entries of the others under the write lock before it decides.
import { type Clock, createHeldClock } from '../../lib/time.ts'
import { createTurnQueue } from '../../lib/turn-queue.ts'
import { createBacklogs } from '../backlog.ts'
import { databaseScope, transactionScope } from '../copy/table-scope.ts'
import type { Database } from '../database.ts'
import { StoreUnavailableError } from '../errors.ts'
import {
  type ClaimEntry,
  ENTRY_BYTES,
  entryBytes,
  type PlacedEntry,
  readEntry,
  readKeepUntil,
  readReplaces,
  sameHash,
} from './entry.ts'
import { type ClaimGroup, type ClaimGroupTable, createClaimGroupTable } from './groups.ts'
import { createPositions } from './positions.ts'

export interface Decision<Result> {
  readonly append: ClaimEntry | null
  readonly result: Result
}

interface PendingOperation {
  readonly organizationId: string
  readonly digest: Uint8Array
  decide(current: ClaimEntry | null, nowSeconds: number, number: number): Decision<unknown>
  resolve(result: unknown): void
  reject(error: unknown): void
}

/** Returns the index of the newest entry with this digest, or -1. Linear, because there are few entries. */
const newestOf = (entries: readonly ClaimEntry[], digest: Uint8Array): number => {
  let index = entries.length - 1
  while (index >= 0 && !sameHash(entries[index]!.digest, digest)) index--
  return index
}

/** Maximum operations per commit. Other writers can commit in between. */
const GROUP_MAX = 256
/** Maximum waiting operations per organization. */
const WAITING_MAX = 10_000
const PAGE = 500
const FORGET_MS = 60_000
/** Pause after which entries of other processes are read before taking the write lock. */
const PAUSE_MS = 1_000
/** Commits contain claims of several organizations. */
const COMMIT = { survives: 'process-crash', queue: 'claim', owner: '' } as const
const ownerOf = ({ organizationId }: PendingOperation): string => organizationId

export interface ClaimLogDependencies {
  readonly database: Database
  readonly clock: Clock
  /** Time for which a forward jump of the clock frees no key: the longest validity of a signature. */
  readonly usableSeconds?: number
}

export const createClaimLog = ({ database, clock, usableSeconds = 0 }: ClaimLogDependencies) => {
  const heldClock = createHeldClock(clock, usableSeconds * 1_000)
  heldClock()
  const positions = createPositions()
  const outside = createClaimGroupTable(databaseScope(database, clock))
  let next = 0
  /** Result of `readCommits` when this process last knew all claims; null after a failure. */
  let commits: number | null = null
  let committedMs = clock.monotonicMs()
  let forgotMs = clock.monotonicMs()
  const waiting = createTurnQueue(ownerOf)
  const backlogs = createBacklogs(WAITING_MAX, clock.monotonicMs)
  let working = false

  const remember = ({ firstNumber, claims }: ClaimGroup): void => {
    for (let offset = 0, number = firstNumber; offset < claims.length; offset += ENTRY_BYTES, number++) {
      positions.add(claims, offset, number, readKeepUntil(claims, offset), readReplaces(claims, offset))
    }
    next = firstNumber + claims.length / ENTRY_BYTES
  }

  const catchUp = async (table: ClaimGroupTable): Promise<void> => {
    for (;;) {
      const groups = await table.listSince(next, PAGE)
      for (const group of groups) remember(group)
      if (groups.length < PAGE) return
    }
  }

  const read = async (table: ClaimGroupTable, digest: Uint8Array) => {
    for (const number of positions.find(digest)) {
      const group = await table.read(number)
      const offset = group === null ? 0 : (number - group.firstNumber) * ENTRY_BYTES
      if (group === null || offset >= group.claims.length) continue
      const entry = readEntry(group.claims, offset)
      if (sameHash(entry.digest, digest)) return { entry, number }
    }
    return null
  }

  const grant = async (table: ClaimGroupTable, operations: readonly PendingOperation[]) => {
    const commitsNow = await table.readCommits()
    if (commitsNow === null || commitsNow !== commits) await catchUp(table)
    const entries: PlacedEntry[] = []
    const nowSeconds = clock.unixSeconds()
    const unusableBySeconds = heldClock()
    const results: unknown[] = []
    let keepUntilSeconds = 0
    for (const operation of operations) {
      const own = newestOf(entries, operation.digest)
      const last = own < 0 ? await read(table, operation.digest) : { entry: entries[own]!, number: next + own }
      const isFree = last === null || last.entry.released || last.entry.keepUntilSeconds <= unusableBySeconds
      const { append, result } = operation.decide(isFree ? null : last.entry, nowSeconds, last?.number ?? 0)
      results.push(result)
      if (append === null) continue
      const number = next + entries.length
      entries.push({ ...append, replaces: last === null ? 0 : number - last.number })
      keepUntilSeconds = Math.max(keepUntilSeconds, append.keepUntilSeconds)
    }
    const group = { firstNumber: next, claims: entryBytes(entries) }
    if (entries.length > 0) await table.append(group, keepUntilSeconds)
    return { group, results, commitsNow }
  }

  const noteEnd = (operations: readonly PendingOperation[]): void => {
    for (const [owner, { length }] of Map.groupBy(operations, ownerOf)) backlogs.remove(owner, length)
  }

  const commit = async (): Promise<void> => {
    let taken: PendingOperation[] = []
    try {
      if (clock.monotonicMs() - committedMs > PAUSE_MS) await catchUp(outside)
      const { group, results, commitsNow } = await database.transaction((transaction) => {
        // Includes operations that arrived while waiting for the lock. On SQLite, this function runs only once.
        taken = waiting.take(GROUP_MAX)
        return grant(createClaimGroupTable(transactionScope(transaction, clock)), taken)
      }, COMMIT)
      if (group.claims.length > 0) remember(group)
      commits = commitsNow
      noteEnd(taken)
      for (const [index, operation] of taken.entries()) operation.resolve(results[index])
    } catch (error) {
      commits = null
      // If none was taken, all waiting operations fail.
      const failed = taken.length > 0 ? taken : waiting.take(waiting.size)
      noteEnd(failed)
      for (const operation of failed) operation.reject(error)
    }
    committedMs = clock.monotonicMs()
    if (committedMs - forgotMs < FORGET_MS) return
    forgotMs = committedMs
    positions.forget(heldClock())
  }

  const work = async (): Promise<void> => {
    working = true
    while (waiting.size > 0) await commit()
    working = false
  }

  return {
    /** Reads the unexpired claims. Returns the number of the next claim. @throws StoreUnavailableError */
    load: async (): Promise<number> => {
      await catchUp(outside)
      return next
    },

    find: (digest: Uint8Array) => read(outside, digest),

    /** Passes the current claim (null if the key is free) to `decide`, which must have no side effects. */
    ask: <Result>(
      organizationId: string,
      digest: Uint8Array,
      decide: (current: ClaimEntry | null, nowSeconds: number, number: number) => Decision<Result>,
    ): Promise<Result> =>
      new Promise<Result>((resolve, reject) => {
        if (backlogs.sizeOf(organizationId) >= WAITING_MAX) {
          throw new StoreUnavailableError(new Error('too many claims are waiting'))
        }
        backlogs.add(organizationId)
        waiting.add({ organizationId, digest, decide, resolve: resolve as (result: unknown) => void, reject })
        if (!working) void work()
      }),

    backlogMs: backlogs.waitMs,
  }
}

export type ClaimLog = ReturnType<typeof createClaimLog>
