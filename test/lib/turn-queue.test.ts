// The order in which owners get their turns.
import { expect, test } from 'bun:test'
import { createTurnQueue } from '../../src/lib/turn-queue.ts'

const queueOf = (...items: string[]) => {
  const queue = createTurnQueue<string>((item) => item.slice(0, 1))
  for (const item of items) queue.add(item)
  return queue
}

test('owners take turns, and the items of an owner keep their order', () => {
  const queue = queueOf('a1', 'a2', 'a3', 'a4', 'b1', 'b2')
  expect(queue.take(3)).toEqual(['a1', 'b1', 'a2'])
  queue.add('c1')
  expect(queue.take(2)).toEqual(['b2', 'a3'])
  expect(queue.take(9)).toEqual(['c1', 'a4'])
  expect(queue.size).toBe(0)
})

test('items that do not belong with the first item get the next turns', () => {
  const queue = queueOf('a1x', 'a2x', 'b1y', 'b2x', 'c1x')
  const sameKind = (item: string, first: string): boolean => item[2] === first[2]
  expect(queue.take(9, sameKind)).toEqual(['a1x', 'c1x', 'a2x'])
  expect(queue.take(9, sameKind)).toEqual(['b1y'])
  expect(queue.take(9, sameKind)).toEqual(['b2x'])
})

test('items that are put back come next', () => {
  const queue = queueOf('a1', 'b1', 'c1', 'b2', 'b3')
  const [, ...others] = queue.take(4)
  expect(others).toEqual(['b1', 'c1', 'b2'])
  queue.putBack(others)
  expect(queue.size).toBe(4)
  expect(queue.take(9)).toEqual(['b1', 'c1', 'b2', 'b3'])
})

test('items that were passed over get their turns before items that are put back', () => {
  const queue = queueOf('a1x', 'a2x', 'a3x', 'b1y', 'c1x')
  const sameKind = (item: string, first: string): boolean => item[2] === first[2]
  const [, ...others] = queue.take(3, sameKind)
  expect(others).toEqual(['c1x', 'a2x'])
  queue.putBack(others)
  expect(queue.take(9, sameKind)).toEqual(['b1y'])
  expect(queue.take(9, sameKind)).toEqual(['c1x', 'a2x', 'a3x'])
})
