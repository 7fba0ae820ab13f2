import { beforeEach, expect, spyOn, test } from 'bun:test'
import { systemTimers } from '../../src/lib/time.ts'

const setTimer = spyOn(globalThis, 'setTimeout')
// Timers of what other files left running are not this one's.
beforeEach(() => setTimer.mockClear())

test('a delay is whole milliseconds, at least one, and at most what a timer can hold', () => {
  for (const delayMs of [-5, 0, 0.2, 7.1, 25_000, 2 ** 40, Number.POSITIVE_INFINITY]) {
    const cancel = systemTimers.after(delayMs, () => undefined)
    cancel()
  }
  expect(setTimer.mock.calls.map(([, delayMs]) => delayMs)).toEqual([1, 1, 1, 8, 25_000, 2 ** 31 - 1, 2 ** 31 - 1])
})

test('the end of a turn comes after every microtask of it', async () => {
  const order: string[] = []
  const ended = new Promise<void>((resolve) => {
    systemTimers.endOfTurn(() => {
      order.push('end of turn')
      resolve()
    })
  })
  queueMicrotask(() => {
    order.push('microtask')
    queueMicrotask(() => order.push('microtask of a microtask'))
  })
  await ended
  expect(order).toEqual(['microtask', 'microtask of a microtask', 'end of turn'])
})
