import { describe, expect, test } from 'bun:test'
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
])('from %p to %p: %i', (left, right, distance) => {
  expect([editDistance(left, right), editDistance(right, left)]).toEqual([distance, distance])
})

describe('chains that were likely meant', () => {
  const names = BUILT_IN_CHAINS.map(({ name }) => name)
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
  ])('%s', (name, near) => {
    expect(nearNames(name, names)).toEqual(near)
  })

  test('stand beside the exact text, which clients compare', () => {
    const body = problemBody(toProblem(new ChainUnsupportedError('bas', ['base'])), 'id')
    expect(body).toMatchObject({ detail: 'unsupported chain ID bas', message: 'unsupported chain ID bas' })
    expect(body.did_you_mean).toEqual(['base'])
    expect(problemBody(toProblem(new ChainUnsupportedError('7')), 'id')).not.toHaveProperty('did_you_mean')
  })
})
