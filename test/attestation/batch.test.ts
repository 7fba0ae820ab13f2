// Batches: each element is answered once, in order, independently of others, and by the deadline.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createBatch, type ElementAnswer } from '../../src/attestation/batch.ts'
import { CountersignError } from '../../src/domain/errors.ts'

interface Pending {
  readonly index: number
  resolve(): void
  reject(error: Error): void
}

const setUp = (size: number, lanes: number) => {
  const pending: Pending[] = []
  const written: string[] = []
  const withheld: ElementAnswer[] = []
  let expire = (): void => undefined
  let calledOff = 0
  const started: number[] = []
  const batch = createBatch({
    size,
    lanes,
    perform: (index) => {
      started.push(index)
      return new Promise((resolve, reject) => {
        pending.push({ index, reject, resolve: () => resolve({ uuid: `u${index}`, line: `ok ${index}` }) })
      })
    },
    describe: (index, error) => `${error instanceof CountersignError ? error.code : 'bug'} ${index}`,
    withhold: (answer) => withheld.push(answer),
    atDeadline: (callback) => {
      expire = callback
      return () => calledOff++
    },
  })
  const done = batch.run((line) => written.push(line))
  return { batch, done, pending, started, written, withheld, expire: () => expire(), calledOff: () => calledOff }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('each line is written once and in order, for any order of results', async () => {
  const answers = fc.array(fc.record({ fails: fc.boolean(), pick: fc.nat() }), { minLength: 1, maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(answers, fc.integer({ min: 1, max: 40 }), async (elements, lanes) => {
      const { done, pending, written, withheld, calledOff } = setUp(elements.length, lanes)
      for (const { fails, pick } of elements) {
        expect(pending.length).toBeLessThanOrEqual(lanes)
        const [next] = pending.splice(pick % pending.length, 1)
        if (fails) next?.reject(new CountersignError('INVALID_FIELD', 'text'))
        else next?.resolve()
        await settled()
        expect(written.map((line) => Number(line.split(' ')[1]))).toEqual(written.map((_, index) => index))
      }
      await done
      const failed = written.filter((line) => line.startsWith('INVALID_FIELD'))
      expect(written).toHaveLength(elements.length)
      expect(failed).toHaveLength(elements.filter(({ fails }) => fails).length)
      expect(withheld).toEqual([])
      expect(calledOff()).toBe(1)
    }),
    { numRuns: 100 },
  )
})

test('unanswered elements get 408 at the deadline, and later attestations are withheld', async () => {
  const { done, pending, started, written, withheld, expire } = setUp(5, 3)
  pending[1]?.resolve()
  await settled()
  expect(started).toEqual([0, 1, 2, 3])
  expect(written).toEqual([])
  expire()
  await done
  const lines = ['DEADLINE_EXCEEDED 0', 'ok 1', 'DEADLINE_EXCEEDED 2', 'DEADLINE_EXCEEDED 3', 'DEADLINE_EXCEEDED 4']
  expect(written).toEqual(lines)
  pending[0]?.resolve()
  pending[2]?.reject(new Error('late'))
  await settled()
  expect(withheld).toEqual([{ uuid: 'u0', line: 'ok 0' }])
  expect(started).toEqual([0, 1, 2, 3])
  expect(written).toEqual(lines)
})

test('an aborted batch neither starts nor writes further elements', async () => {
  const { batch, done, pending, started, written, withheld } = setUp(5, 2)
  batch.abandon()
  for (const each of pending) each.resolve()
  await done
  expect([started, written, withheld]).toEqual([[0, 1], [], []])
})
