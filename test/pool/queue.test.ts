import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createJobQueue } from '../../src/pool/fair-queue.ts'
import { createPendingJob, type PendingJob } from '../../src/pool/settlement.ts'
import { jobOf, targetOf } from './support/jobs.ts'

const entryOf = (number: number): PendingJob => createPendingJob(jobOf(number), targetOf(), number, 0)

type Step = 'push' | 'push-head' | 'shift' | 'take-tail' | 'drop-first' | 'drop-middle'

test('behaves as a list from which settled jobs vanish, whatever the order of operations', () => {
  const steps = fc.array(
    fc.constantFrom<Step>('push', 'push', 'push-head', 'shift', 'take-tail', 'drop-first', 'drop-middle'),
    {
      maxLength: 400,
    },
  )
  fc.assert(
    fc.property(steps, (operations) => {
      const queue = createJobQueue()
      const model: PendingJob[] = []
      operations.forEach((operation, number) => {
        if (operation === 'push') {
          const entry = entryOf(number)
          queue.pushTail(entry)
          model.push(entry)
        } else if (operation === 'push-head') {
          const entry = entryOf(number)
          queue.pushHead(entry)
          model.unshift(entry)
        } else if (operation === 'shift') {
          expect(queue.shift()).toBe(model.shift() ?? null)
        } else if (operation === 'take-tail') {
          expect(queue.takeTail()).toBe(model.pop() ?? null)
        } else {
          const [entry] = model.splice(operation === 'drop-first' ? 0 : Math.floor(model.length / 2), 1)
          if (entry !== undefined) queue.drop(entry)
        }
        expect(queue.size).toBe(model.length)
      })
      for (const entry of model) expect(queue.shift()).toBe(entry)
      expect(queue.shift()).toBeNull()
    }),
  )
})

test('dropping a job twice, or one that was taken, counts it once', () => {
  const queue = createJobQueue()
  const [first, second] = [entryOf(1), entryOf(2)]
  queue.pushTail(first)
  queue.pushTail(second)
  queue.drop(first)
  queue.drop(first)
  expect(queue.size).toBe(1)
  expect(queue.shift()).toBe(second)
  queue.drop(second)
  expect(queue.size).toBe(0)
})

test('a job may come back to the head after it was taken', () => {
  const queue = createJobQueue()
  const [first, second] = [entryOf(1), entryOf(2)]
  queue.pushTail(first)
  queue.pushTail(second)
  expect(queue.shift()).toBe(first)
  queue.pushHead(first)
  expect(queue.shift()).toBe(first)
  expect(queue.shift()).toBe(second)
})
