import { expect, test } from 'bun:test'
import { withTimeout } from '../../src/lib/with-timeout.ts'

const createTimers = () => {
  const timers = { delays: [] as number[], fire: (): void => undefined, cancelled: 0 }
  const after = (delayMs: number, callback: () => void) => {
    timers.delays.push(delayMs)
    timers.fire = callback
    return () => {
      timers.cancelled += 1
    }
  }
  return { timers, after }
}

test('returns a result within the limit and cancels the timer', async () => {
  const { timers, after } = createTimers()
  expect(await withTimeout(Promise.resolve(7), 50, () => null, after)).toBe(7)
  expect(timers).toMatchObject({ delays: [50], cancelled: 1 })
  await expect(withTimeout(Promise.reject(new Error('failed')), 50, () => null, after)).rejects.toThrow('failed')
  expect(timers.cancelled).toBe(2)
})

test('after the limit, returns the result of onTimeout and ignores a late failure', async () => {
  const { timers, after } = createTimers()
  const work = Promise.withResolvers<number>()
  const waiting = withTimeout(work.promise, 50, () => 'late', after)
  timers.fire()
  expect(await waiting).toBe('late')
  work.reject(new Error('too late'))
  const throwing = withTimeout(
    new Promise(() => undefined),
    50,
    () => {
      throw new Error('does not answer')
    },
    after,
  )
  timers.fire()
  await expect(throwing).rejects.toThrow('does not answer')
})
