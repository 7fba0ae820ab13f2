// The order in which writes get connections to PostgreSQL.
import { describe, expect, test } from 'bun:test'
import { DeadlineExceededError, QueueFullError } from '../../src/domain/errors.ts'
import { runFor } from '../../src/lib/caller.ts'
import { systemClock } from '../../src/lib/time.ts'
import type { TransactionOptions } from '../../src/store/database.ts'
import { StoreUnavailableError } from '../../src/store/errors.ts'
import { createWriteTurns, type WriteTurnsOptions } from '../../src/store/postgres/write-turns.ts'

const WRITERS = 6
const claimOf = (owner: string): TransactionOptions => ({ queue: 'claim', owner })

const start = (options: Partial<WriteTurnsOptions> = {}) => {
  const turns = createWriteTurns({
    writers: WRITERS,
    maximumQueued: 10,
    waitMs: 60_000,
    clock: systemClock,
    ...options,
  })
  const begun: string[] = []
  const ends: (() => void)[] = []
  /** A write that runs until its entry of `ends` is called. */
  const work = (name: string) => (): Promise<string> => {
    begun.push(name)
    const { promise, resolve } = Promise.withResolvers<string>()
    ends.push(() => resolve(name))
    return promise
  }
  /** Most writes still wait at the end of a test, and would fail a later test after `waitMs`. */
  const ignoreLater = (writing: Promise<string>): Promise<string> => {
    writing.catch(() => undefined)
    return writing
  }
  const write = (owner: string, signal: AbortSignal | null = null): Promise<string> =>
    ignoreLater(runFor({ owner, signal }, () => turns.run(work(owner), {})))
  const claim = (owner: string): Promise<string> => ignoreLater(turns.run(work(`claim of ${owner}`), claimOf(owner)))
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
  return { turns, begun, ends, write, claim, settled }
}

describe('a write of a request', () => {
  test('leaves a connection for other organizations, which take turns', async () => {
    const { write, begun, ends, settled } = start()
    for (const owner of 'AAAAAAAABBB') void write(owner)
    await settled()
    expect(begun.join('')).toBe('AAAB')
    ends.shift()?.()
    await settled()
    expect(begun.join('')).toBe('AAABB')
  })

  test('never uses a connection that is reserved for claims', async () => {
    const { write, claim, begun, settled } = start()
    for (const owner of 'AAAAABBBBBCCCCC') void write(owner)
    await settled()
    expect(begun).toHaveLength(4)
    void claim('D')
    void claim('A')
    await settled()
    expect(begun.slice(4)).toEqual(['claim of D', 'claim of A'])
  })

  test('beyond the organization’s limit is refused at once, and other organizations are not affected', async () => {
    const { write, settled, begun } = start()
    for (let count = 0; count < 13; count++) void write('A')
    await expect(write('A')).rejects.toBeInstanceOf(QueueFullError)
    void write('B')
    await settled()
    expect(begun.join('')).toBe('AAAB')
  })

  test('is withdrawn if its request ends before its turn', async () => {
    const { write, ends, begun, settled } = start({ writers: 2 })
    const request = new AbortController()
    void write('A')
    const waiting = write('B', request.signal)
    void write('C')
    request.abort()
    await expect(waiting).rejects.toBeInstanceOf(DeadlineExceededError)
    ends.shift()?.()
    await settled()
    expect(begun.join('')).toBe('AC')
  })

  test('that cleans up after the end of its request runs', async () => {
    const { write, ends, settled } = start()
    const cleanup = write('A', AbortSignal.abort())
    await settled()
    ends.shift()?.()
    expect(await cleanup).toBe('A')
  })

  test('fails if it does not get a connection in time', async () => {
    const { write } = start({ writers: 1, waitMs: 1 })
    void write('A')
    await expect(write('B')).rejects.toBeInstanceOf(StoreUnavailableError)
  })
})

describe('claims', () => {
  test('of organizations take turns', async () => {
    const { claim, begun, ends, settled } = start()
    for (const owner of 'AAAAAAAAB') void claim(owner)
    await settled()
    expect(begun.filter((name) => name === 'claim of A')).toHaveLength(5)
    expect(begun.at(-1)).toBe('claim of B')
    void claim('B')
    ends.shift()?.()
    await settled()
    expect(begun.at(-1)).toBe('claim of B')
  })

  test('wait only for claims of the same organization, and so does their estimate', async () => {
    const { turns, claim, write, ends, settled } = start({ maximumQueued: 4 })
    for (let count = 0; count < 4; count++) void write('B')
    expect(turns.backlogMs('B')).toBe(0)
    void claim('A')
    expect(turns.backlogMs('A')).not.toBeNull()
    void claim('A')
    expect(turns.backlogMs('A')).toBeNull()
    expect(turns.backlogMs('B')).toBe(0)
    await settled()
    for (const end of ends) end()
    await settled()
    expect(turns.backlogMs('A')).toBe(0)
  })
})
