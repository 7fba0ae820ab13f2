// How many refusals leave in one turn of the event loop, and when the others do.
import { expect, test } from 'bun:test'
import { createTurnValve } from '../../src/http/turn-valve.ts'

const createTurns = () => {
  const waiting: (() => void)[] = []
  return {
    endOfTurn: (callback: () => void): void => void waiting.push(callback),
    waiting: () => waiting.length,
    end: (): void => {
      for (const callback of waiting.splice(0)) callback()
    },
  }
}

test('so many refusals of a turn leave at once, the others at its end in the order in which they came', async () => {
  const turns = createTurns()
  const valve = createTurnValve({ perTurn: 2, endOfTurn: turns.endOfTurn })
  const made: number[] = []
  const ask = (number: number) =>
    valve(() => {
      made.push(number)
      return new Response(String(number))
    })
  const answers = [0, 1, 2, 3, 4].map(ask)
  expect(answers.map((answer) => answer instanceof Promise)).toEqual([false, false, true, true, true])
  expect(made).toEqual([0, 1])
  // One callback a turn, however many wait for it.
  expect(turns.waiting()).toBe(1)
  turns.end()
  expect(made).toEqual([0, 1, 2, 3, 4])
  expect(await Promise.all(answers.map(async (answer) => (await answer).text()))).toEqual(['0', '1', '2', '3', '4'])
})

test('each turn begins anew', () => {
  const turns = createTurns()
  const valve = createTurnValve({ perTurn: 1, endOfTurn: turns.endOfTurn })
  for (let turn = 0; turn < 3; turn++) {
    expect(valve(() => new Response())).toBeInstanceOf(Response)
    expect(valve(() => new Response())).toBeInstanceOf(Promise)
    turns.end()
    expect(turns.waiting()).toBe(0)
  }
})

test('what is refused while held refusals leave waits for no more than the next turn', async () => {
  const turns = createTurns()
  const valve = createTurnValve({ perTurn: 1, endOfTurn: turns.endOfTurn })
  const inside: (Response | Promise<Response>)[] = []
  void valve(() => new Response())
  void valve(() => {
    inside.push(
      valve(() => new Response()),
      valve(() => new Response('late')),
    )
    return new Response()
  })
  turns.end()
  expect(inside[0]).toBeInstanceOf(Response)
  turns.end()
  expect(await (await inside[1])?.text()).toBe('late')
})
