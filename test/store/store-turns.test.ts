// Order and limits of organizations' long reads, which end with the request or the store.
import { expect, test } from 'bun:test'
import { DeadlineExceededError, QueueFullError } from '../../src/domain/errors.ts'
import { runFor } from '../../src/lib/caller.ts'
import { StoreUnavailableError } from '../../src/store/errors.ts'
import { createLongReadTurns, OWN_LONG_READS_WAITING_MAX } from '../../src/store/store-turns.ts'

const start = (running: number, ownRunning: number) => {
  const turns = createLongReadTurns(running, ownRunning)
  const begun: string[] = []
  const ends: (() => void)[] = []
  /** A read that runs until its entry of `ends` is called. */
  const read = (owner: string, signal: AbortSignal | null = null): Promise<string> =>
    runFor({ owner, signal }, () =>
      turns.run(() => {
        begun.push(owner)
        const { promise, resolve } = Promise.withResolvers<string>()
        ends.push(() => resolve(owner))
        return promise
      }),
    )
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
  const endNext = async (): Promise<void> => {
    ends.shift()?.()
    await settled()
  }
  return { turns, begun, ends, read, endNext, settled }
}

test('organizations take turns, even if many reads of one organization are queued', async () => {
  const { read, endNext, begun, settled } = start(1, 1)
  const reads = ['A', 'A', 'A', 'B'].map((owner) => read(owner))
  await settled()
  expect(begun).toEqual(['A'])
  for (const _ of reads) await endNext()
  expect(begun).toEqual(['A', 'B', 'A', 'A'])
  expect(await Promise.all(reads)).toEqual(['A', 'A', 'A', 'B'])
})

test('one organization never occupies every connection', async () => {
  const { read, begun, settled } = start(2, 1)
  for (const owner of ['A', 'A', 'B']) void read(owner)
  await settled()
  expect(begun).toEqual(['A', 'B'])
})

test('reads beyond an organization’s limit are refused at once, and other organizations are not affected', async () => {
  const { read, begun, endNext, settled } = start(1, 1)
  for (let count = 0; count <= OWN_LONG_READS_WAITING_MAX; count++) void read('A')
  await expect(read('A')).rejects.toBeInstanceOf(QueueFullError)
  const other = read('B')
  await settled()
  await endNext()
  expect(begun).toEqual(['A', 'B'])
  await endNext()
  expect(await other).toBe('B')
})

test('a read whose request has ended never runs, and frees its slot', async () => {
  const { read, begun, endNext, settled } = start(1, 1)
  const request = new AbortController()
  void read('A')
  const waiting = Promise.allSettled(
    Array.from({ length: OWN_LONG_READS_WAITING_MAX }, () => read('A', request.signal)),
  )
  request.abort()
  for (const ended of await waiting) expect(ended).toMatchObject({ reason: expect.any(DeadlineExceededError) })
  await expect(read('A', request.signal)).rejects.toBeInstanceOf(DeadlineExceededError)
  void read('A')
  await settled()
  await endNext()
  await endNext()
  expect(begun).toEqual(['A', 'A'])
})

test('a stop rejects queued reads, and running reads are completed', async () => {
  const { turns, read, begun, endNext, settled } = start(1, 1)
  const [running, waiting] = [read('A'), read('B')]
  await settled()
  turns.stop()
  await expect(waiting).rejects.toBeInstanceOf(StoreUnavailableError)
  await endNext()
  expect(await running).toBe('A')
  expect(begun).toEqual(['A'])
})

test('a failed read frees its slot', async () => {
  const turns = createLongReadTurns(1, 1)
  await expect(turns.run(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  expect(await turns.run(() => Promise.resolve(1))).toBe(1)
})
