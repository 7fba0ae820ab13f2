// A log of claims over SQLite. They are only appended, those of many requests in one row, and found by a table in memory:
// an indexed row each costs several times as much. The write lock of the database puts the processes in an order: each
// reads what the others appended before it decides what it may append.
import type { Clock } from '../../lib/time.ts'
import { createBacklog } from '../backlog.ts'
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
  readonly digest: Uint8Array
  decide(current: ClaimEntry | null, nowSeconds: number): Decision<unknown>
  resolve(result: unknown): void
  reject(error: unknown): void
}

/** Where an entry stands, or will. */
interface Placed {
  readonly entry: ClaimEntry
  readonly number: number
}

/** Place of the newest with this digest, or -1. They are few, and nearly always differ in their first byte. */
const newestOf = (entries: readonly ClaimEntry[], digest: Uint8Array): number => {
  let index = entries.length - 1
  while (index >= 0 && !sameHash(entries[index]!.digest, digest)) index--
  return index
}

/** Operations of one commit: the others wait for the next, behind what else writes. */
const GROUP_MAX = 256
/** Operations that may wait before the next is refused. */
const WAITING_MAX = 10_000
/** Groups that are read at once: some megabytes. */
const PAGE = 500
/** As often as rows past their time are deleted: a clock that is wrong for some seconds does no harm. */
const FORGET_MS = 60_000
/** After a pause as long, what others appended is read before other writers have to wait for it. */
const PAUSE_MS = 1_000
const DURABILITY = { survives: 'process-crash' } as const

export interface ClaimLogDependencies {
  readonly database: Database
  readonly clock: Clock
}

export const createClaimLog = ({ database, clock }: ClaimLogDependencies) => {
  const positions = createPositions()
  const outside = createClaimGroupTable(databaseScope(database, clock))
  /** The number that the next claim gets, as far as this process knows. */
  let next = 0
  /** What `readCommits` said when this process last knew all claims. Null after a failure: it may have missed some. */
  let commits: number | null = null
  let committedMs = clock.monotonicMs()
  let forgotMs = clock.monotonicMs()
  const waiting: PendingOperation[] = []
  const backlog = createBacklog(WAITING_MAX, clock.monotonicMs)
  let working = false

  const remember = ({ firstNumber, claims }: ClaimGroup): void => {
    for (let offset = 0, number = firstNumber; offset < claims.length; offset += ENTRY_BYTES, number++) {
      positions.add(claims, offset, number, readKeepUntil(claims, offset), readReplaces(claims, offset))
    }
    next = firstNumber + claims.length / ENTRY_BYTES
  }

  /** Reads what other processes appended, or what was appended before the start. */
  const catchUp = async (table: ClaimGroupTable): Promise<void> => {
    for (;;) {
      const groups = await table.listSince(next, PAGE)
      for (const group of groups) remember(group)
      if (groups.length < PAGE) return
    }
  }

  const read = async (table: ClaimGroupTable, digest: Uint8Array): Promise<Placed | null> => {
    for (const number of positions.find(digest)) {
      const group = await table.read(number)
      const offset = group === null ? 0 : (number - group.firstNumber) * ENTRY_BYTES
      // Its group may have been deleted meanwhile: then its time is over.
      if (group === null || offset >= group.claims.length) continue
      const entry = readEntry(group.claims, offset)
      if (sameHash(entry.digest, digest)) return { entry, number }
    }
    return null
  }

  const grant = async (table: ClaimGroupTable, operations: readonly PendingOperation[]) => {
    const commitsNow = await table.readCommits()
    if (commitsNow === null || commitsNow !== commits) await catchUp(table)
    /** What this group appends: the next operation for the same key must see it. */
    const entries: PlacedEntry[] = []
    const nowSeconds = clock.unixSeconds()
    const results: unknown[] = []
    let keepUntilSeconds = 0
    for (const operation of operations) {
      const own = newestOf(entries, operation.digest)
      const last = own < 0 ? await read(table, operation.digest) : { entry: entries[own]!, number: next + own }
      const isFree = last === null || last.entry.released || last.entry.keepUntilSeconds <= nowSeconds
      const { append, result } = operation.decide(isFree ? null : last.entry, nowSeconds)
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

  const commit = async (): Promise<void> => {
    let taken: PendingOperation[] = []
    try {
      if (clock.monotonicMs() - committedMs > PAUSE_MS) await catchUp(outside)
      const { group, results, commitsNow } = await database.transaction((transaction) => {
        // Whoever came while the transaction waited for its turn is still in time. Over SQLite this runs once.
        taken = waiting.splice(0, GROUP_MAX)
        return grant(createClaimGroupTable(transactionScope(transaction, clock)), taken)
      }, DURABILITY)
      if (group.claims.length > 0) remember(group)
      commits = commitsNow
      backlog.remove(taken.length)
      for (const [index, operation] of taken.entries()) operation.resolve(results[index])
    } catch (error) {
      commits = null
      // Where nobody got a turn, nobody is left to wait in hope.
      const failed = taken.length > 0 ? taken : waiting.splice(0)
      backlog.remove(failed.length)
      for (const operation of failed) operation.reject(error)
    }
    committedMs = clock.monotonicMs()
    if (committedMs - forgotMs < FORGET_MS) return
    forgotMs = committedMs
    positions.forget(clock.unixSeconds())
  }

  const work = async (): Promise<void> => {
    working = true
    while (waiting.length > 0) await commit()
    working = false
  }

  return {
    /** Reads the claims that are kept, and says whether there ever were any. @throws StoreUnavailableError */
    load: async (): Promise<boolean> => {
      await catchUp(outside)
      return next > 0
    },

    /** The claim with this digest, as this process knows it; over either database. @throws StoreUnavailableError */
    find: async (digest: Uint8Array): Promise<ClaimEntry | null> => (await read(outside, digest))?.entry ?? null,

    /**
     * Decides about a claim by how it stands, null when its key is free, and appends what the decision says. `decide`
     * has no effects of its own.
     * @throws StoreUnavailableError; then nothing was appended
     */
    ask: <Result>(
      digest: Uint8Array,
      decide: (current: ClaimEntry | null, nowSeconds: number) => Decision<Result>,
    ): Promise<Result> =>
      new Promise<Result>((resolve, reject) => {
        if (backlog.size >= WAITING_MAX) throw new StoreUnavailableError(new Error('too many claims are waiting'))
        backlog.add()
        waiting.push({ digest, decide, resolve: resolve as (result: unknown) => void, reject })
        if (!working) void work()
      }),

    /** As of a database: milliseconds until a claim asked for now would be decided, or null. */
    backlogMs: backlog.waitMs,
  }
}

export type ClaimLog = ReturnType<typeof createClaimLog>
