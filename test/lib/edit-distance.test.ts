import { expect, test } from 'bun:test'
import { BUILT_IN_CHAINS } from '../../src/domain/chain.ts'
import { ChainUnsupportedError } from '../../src/domain/errors.ts'
import { editDistance, nearNames } from '../../src/lib/edit-distance.ts'
import { problemBody, toProblem } from '../../src/server/problem.ts'

test.each([
  ['', '', 0],
  ['a', '', 1],
  ['form', 'from', 1],
  ['base', 'bas', 1],
  ['etherium', 'ethereum', 1],
  ['abc', 'cab', 2],
  ['kitten', 'sitting', 3],
])('the distance from %p to %p is %i', (left, right, distance) => {
  expect([editDistance(left, right), editDistance(right, left)]).toEqual([distance, distance])
})

test.each([
  ['etherium', ['ethereum']],
  ['eth', ['ethereum']],
  ['bas', ['base']],
  ['Base', ['base']],
  ['MEGAETH_TESTNET', ['megaeth-testnet']],
  ['arbitrum-one', []],
  ['polygon', []],
  ['', []],
  ['x'.repeat(10_000), []],
])('chains similar to %s are suggested', (name, near) => {
  const names = BUILT_IN_CHAINS.map((chain) => chain.name)
  expect(nearNames(name, names)).toEqual(near)
})

test('an error names similar chains in a separate member, and keeps the exact text that clients compare', () => {
  const text = 'unsupported chain ID bas'
  const body = problemBody(toProblem(new ChainUnsupportedError('bas', ['base'])), 'id')
  expect(body).toMatchObject({ detail: text, message: text, did_you_mean: ['base'] })
  expect(problemBody(toProblem(new ChainUnsupportedError('7')), 'id')).not.toHaveProperty('did_you_mean')
})
