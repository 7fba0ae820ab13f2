// How many refusals leave in one turn of the event loop, and when the others do.
import { expect, test } from 'bun:test'
import { createRefusalPacer, type RefusalPacerOptions } from '../../src/server/event-loop-turns.ts'

/** An event loop turned by hand: time passes only where a test says so. */
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
    /** Ends the turn, which took so long. */
    end: (tookMs: number): void => {
      nowMs += tookMs
      const due = ends
      ends = []
      for (const callback of due) callback()
    },
    /** Nothing happens for so long but the timers that are due. */
    pass: (milliseconds: number): void => {
      nowMs += milliseconds
      const due = timers.filter(({ atMs }) => atMs <= nowMs)
      timers = timers.filter(({ atMs }) => atMs > nowMs)
      for (const { callback } of due) callback()
    },
    pending: () => ({ ends: ends.length, timers: timers.length }),
  }
}

/** A pacer, and the numbers of the refusals that have left it. */
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

test('so many refusals of a turn leave at once, the others at its end in the order in which they came', async () => {
  const { loop, made, refuse } = createTrial({ perTurn: 2 })
  const answers = [0, 1, 2, 3, 4].map(refuse)
  expect(answers.map((answer) => answer instanceof Promise)).toEqual([false, false, true, true, true])
  expect(made).toEqual([0, 1])
  // One callback a turn, however many wait for it.
  expect(loop.pending()).toEqual({ ends: 1, timers: 0 })
  loop.end(1)
  expect(made).toEqual([0, 1, 2, 3])
  loop.end(1)
  expect(made).toEqual([0, 1, 2, 3, 4])
  expect(await Promise.all(answers.map(async (answer) => (await answer).text()))).toEqual(['0', '1', '2', '3', '4'])
  loop.end(1)
  expect(loop.pending()).toEqual({ ends: 0, timers: 0 })
})

test('each turn begins anew', () => {
  const { loop, refuse } = createTrial({ perTurn: 1 })
  for (let turn = 0; turn < 3; turn++) {
    expect(refuse(0)).toBeInstanceOf(Response)
    loop.end(1)
    expect(loop.pending()).toEqual({ ends: 0, timers: 0 })
  }
})

test('what is refused while others leave waits behind them', async () => {
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

test('where refusing has had more than its share, it waits until the rest of the time was for others', () => {
  const { loop, made, refuse } = createTrial({ perTurn: 1, share: 0.25, burstMs: 10 })
  for (const number of [0, 1, 2]) refuse(number)
  // Two milliseconds too many, at a quarter of the time.
  loop.end(12)
  expect(made).toEqual([0])
  loop.pass(7)
  expect(made).toEqual([0])
  loop.pass(1)
  expect(made).toEqual([0, 1])
  // And each further millisecond is paid for by three others.
  loop.end(4)
  loop.pass(11)
  expect(made).toEqual([0, 1])
  loop.pass(1)
  expect(made).toEqual([0, 1, 2])
})

test('a turn counts by the part of its requests that was refused', () => {
  const { loop, pacer, made, refuse } = createTrial({ perTurn: 1, share: 0.25, burstMs: 10 })
  refuse(0)
  refuse(1)
  for (let accepted = 0; accepted < 6; accepted++) pacer.arrived()
  loop.end(40)
  expect(made).toEqual([0, 1])
  loop.end(1)
  // Those of earlier turns are not of this one.
  for (let accepted = 0; accepted < 6; accepted++) pacer.arrived()
  loop.pass(1_000)
  refuse(2)
  refuse(3)
  loop.end(11)
  expect(made).toEqual([0, 1, 2])
})

test('a refusal waits for fifty milliseconds at a time and no more, and a long line leaves in parts', () => {
  const { loop, made, refuse } = createTrial({ perTurn: 1, share: 0.25, burstMs: 10 })
  for (let number = 0; number < 161; number++) refuse(number)
  loop.end(60_000)
  expect(made).toHaveLength(1)
  loop.pass(50)
  expect(made).toHaveLength(11)
})

test('time without a flood is no credit for the next one', () => {
  const { loop, made, refuse } = createTrial({ perTurn: 1, share: 0.25, burstMs: 10 })
  loop.pass(60_000)
  refuse(0)
  refuse(1)
  loop.end(12)
  expect(made).toEqual([0])
})
