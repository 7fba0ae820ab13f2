// The pacing of refusals: the number that is sent per turn of the event loop, and the delay of the others.
import { expect, test } from 'bun:test'
import { createRefusalPacer, type RefusalPacerOptions } from '../../src/server/event-loop-turns.ts'

/** A manual event loop. */
const createLoop = () => {
  let nowMs = 1_000
  let ends: (() => void)[] = []
  let timers: { readonly atMs: number; readonly callback: () => void }[] = []
  return {
    endOfTurn: (callback: () => void): void => void ends.push(callback),
    after: (delayMs: number, callback: () => void) => {
      timers.push({ atMs: nowMs + delayMs, callback })
      return () => undefined
    },
    monotonicMs: () => nowMs,
    /** Ends a turn of the given duration. */
    end: (tookMs: number): void => {
      nowMs += tookMs
      const due = ends
      ends = []
      for (const callback of due) callback()
    },
    /** Advances the time so that only timers fire. */
    pass: (milliseconds: number): void => {
      nowMs += milliseconds
      const due = timers.filter(({ atMs }) => atMs <= nowMs)
      timers = timers.filter(({ atMs }) => atMs > nowMs)
      for (const { callback } of due) callback()
    },
    pending: () => ({ ends: ends.length, timers: timers.length }),
  }
}

/** A pacer, and the numbers of the refusals that it released. */
const createTrial = (options: RefusalPacerOptions) => {
  const loop = createLoop()
  const pacer = createRefusalPacer({ ...options, ...loop })
  const made: number[] = []
  const refuse = (number: number) => {
    pacer.arrived()
    return pacer.refuse(() => {
      made.push(number)
      return new Response(String(number))
    })
  }
  return { loop, pacer, made, refuse }
}

test('a turn has a limited number of refusals; the others leave at its end, in order', async () => {
  const { loop, made, refuse } = createTrial({ perTurn: 2 })
  const answers = [0, 1, 2, 3, 4].map(refuse)
  expect(answers.map((answer) => answer instanceof Promise)).toEqual([false, false, true, true, true])
  expect(made).toEqual([0, 1])
  // All waiting refusals share one callback per turn.
  expect(loop.pending()).toEqual({ ends: 1, timers: 0 })
  loop.end(1)
  expect(made).toEqual([0, 1, 2, 3])
  loop.end(1)
  expect(made).toEqual([0, 1, 2, 3, 4])
  expect(await Promise.all(answers.map(async (answer) => (await answer).text()))).toEqual(['0', '1', '2', '3', '4'])
  loop.end(1)
  expect(loop.pending()).toEqual({ ends: 0, timers: 0 })
})

test('each turn starts from zero', () => {
  const { loop, refuse } = createTrial({ perTurn: 1 })
  for (let turn = 0; turn < 3; turn++) {
    expect(refuse(0)).toBeInstanceOf(Response)
    loop.end(1)
    expect(loop.pending()).toEqual({ ends: 0, timers: 0 })
  }
})

test('a new refusal waits behind the refusals that are being released', async () => {
  const { loop, made, refuse } = createTrial({ perTurn: 1 })
  const answers = [0, 1, 2].map(refuse)
  loop.end(1)
  expect(made).toEqual([0, 1])
  expect(refuse(3)).toBeInstanceOf(Promise)
  loop.end(1)
  loop.end(1)
  expect(made).toEqual([0, 1, 2, 3])
  expect(await (await answers[2])?.text()).toBe('2')
})

test('refusals wait while they exceed their share of the time', () => {
  const { loop, made, refuse } = createTrial({ perTurn: 1, share: 0.25, burstMs: 10 })
  for (const number of [0, 1, 2]) refuse(number)
  // Refusals took two milliseconds too many, at a quarter of the time.
  loop.end(12)
  expect(made).toEqual([0])
  loop.pass(7)
  expect(made).toEqual([0])
  loop.pass(1)
  expect(made).toEqual([0, 1])
  // Each further millisecond waits for three others.
  loop.end(4)
  loop.pass(11)
  expect(made).toEqual([0, 1])
  loop.pass(1)
  expect(made).toEqual([0, 1, 2])
})

test('the duration of a turn counts in proportion to its refused requests', () => {
  const { loop, pacer, made, refuse } = createTrial({ perTurn: 1, share: 0.25, burstMs: 10 })
  refuse(0)
  refuse(1)
  for (let accepted = 0; accepted < 6; accepted++) pacer.arrived()
  loop.end(40)
  expect(made).toEqual([0, 1])
  loop.end(1)
  // Requests of earlier turns do not count.
  for (let accepted = 0; accepted < 6; accepted++) pacer.arrived()
  loop.pass(1_000)
  refuse(2)
  refuse(3)
  loop.end(11)
  expect(made).toEqual([0, 1, 2])
})

test('a refusal waits at most fifty milliseconds at a time, and a long queue is released in parts', () => {
  const { loop, made, refuse } = createTrial({ perTurn: 1, share: 0.25, burstMs: 10 })
  for (let number = 0; number < 161; number++) refuse(number)
  loop.end(60_000)
  expect(made).toHaveLength(1)
  loop.pass(50)
  expect(made).toHaveLength(11)
})

test('time without refusals is not credited to the next burst', () => {
  const { loop, made, refuse } = createTrial({ perTurn: 1, share: 0.25, burstMs: 10 })
  loop.pass(60_000)
  refuse(0)
  refuse(1)
  loop.end(12)
  expect(made).toEqual([0])
})
