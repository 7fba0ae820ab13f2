// Delays of timers, and the end of a turn of the event loop.
import { beforeEach, expect, spyOn, test } from 'bun:test'
import { systemTimers } from '../../src/lib/time.ts'

const setTimer = spyOn(globalThis, 'setTimeout')
// Discards timers that other files left running.
beforeEach(() => setTimer.mockClear())

test.each([
  [-5, 1],
  [0, 1],
  [0.2, 1],
  [7.1, 8],
  [25_000, 25_000],
  [2 ** 40, 2 ** 31 - 1],
  [Number.POSITIVE_INFINITY, 2 ** 31 - 1],
])('a delay is in whole milliseconds, at least one, and at most the maximum of a timer: %d', (delayMs, set) => {
  systemTimers.after(delayMs, () => undefined)()
  expect(setTimer.mock.calls.map((call) => call[1])).toEqual([set])
})

test('the end of a turn comes after all its microtasks', async () => {
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
