// A batch: every element answered once, in its place, whatever the others do, and all by the deadline.
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

/** Everything that is settled has been noticed. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('whatever the order in which they are answered, lines come in their order, each once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ fails: fc.boolean(), pick: fc.nat() }), { minLength: 1, maxLength: 30 }),
      fc.integer({ min: 1, max: 40 }),
      async (elements, lanes) => {
        const { done, pending, written, withheld, calledOff } = setUp(elements.length, lanes)
        for (const { fails, pick } of elements) {
          expect(pending.length).toBeLessThanOrEqual(lanes)
          const [next] = pending.splice(pick % pending.length, 1)
          if (fails) next?.reject(new CountersignError('INVALID_FIELD', 'told'))
          else next?.resolve()
          await settled()
          expect(written.map((line) => Number(line.split(' ')[1]))).toEqual(written.map((_, index) => index))
        }
        await done
        expect(written).toHaveLength(elements.length)
        expect(written.filter((line) => line.startsWith('INVALID_FIELD'))).toHaveLength(
          elements.filter(({ fails }) => fails).length,
        )
        expect(withheld).toEqual([])
        expect(calledOff()).toBe(1)
      },
    ),
    { numRuns: 100 },
  )
})

test('at the deadline the rest is 408, and what is signed later is withheld', async () => {
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

test('nobody reads any more: nothing further is started or written', async () => {
  const { batch, done, pending, started, written, withheld } = setUp(5, 2)
  batch.abandon()
  for (const each of pending) each.resolve()
  await done
  expect(started).toEqual([0, 1])
  expect(written).toEqual([])
  expect(withheld).toEqual([])
})
