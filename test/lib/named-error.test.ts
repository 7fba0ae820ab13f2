import { expect, test } from 'bun:test'
import { causesOf } from '../../src/lib/named-error.ts'

test('an error and its causes are listed from the outside in, and end, though they are a circle', () => {
  const inner = new Error('inner')
  const outer = new TypeError('outer', { cause: inner })
  expect([...causesOf(outer)]).toEqual([outer, inner])
  expect([...causesOf(new Error('text', { cause: 'no error' }))]).toHaveLength(1)
  expect([...causesOf('no error')]).toEqual([])
  inner.cause = outer
  expect([...causesOf(outer)]).toEqual([outer, inner, outer, inner, outer])
})
