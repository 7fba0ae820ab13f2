import { expect, test } from 'bun:test'
import { createReload } from '../../src/lib/reload.ts'

test('a failed refresh is retried until it succeeds', async () => {
  const results = ['down', 'down', null]
  const errors: unknown[] = []
  let reads = 0
  let again = (): void => undefined
  const { refresh } = createReload(
    async () => {
      reads += 1
      const error = results.shift()
      if (error != null) throw new Error(error)
    },
    (error) => errors.push(error),
    (_, callback) => {
      again = callback
      return () => undefined
    },
  )
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  refresh()
  await settled()
  for (const expected of [2, 3]) {
    const repeat = again
    again = () => undefined
    repeat()
    await settled()
    expect(reads).toBe(expected)
  }
  again()
  await settled()
  expect([reads, errors.length]).toEqual([3, 2])
})

test('refreshes that fail at the same time share one retry', async () => {
  let waiting = 0
  const { refresh } = createReload(
    () => Promise.reject(new Error('down')),
    () => undefined,
    () => {
      waiting += 1
      return () => {
        waiting -= 1
      }
    },
  )
  for (let count = 0; count < 5; count++) refresh()
  await new Promise((resolve) => setImmediate(resolve))
  expect(waiting).toBe(1)
})
