// The type of an identity in a policy's own tests.
import { expect, test } from 'bun:test'
import { compilePolicy } from '../../src/policy/cel/compile.ts'
import { issuesOf } from './support.ts'

test('is individual or business', () => {
  const request = 'request: { from: "0x1111111111111111111111111111111111111111" }'
  const read = (type: string) => {
    const facts = `facts: { identity: { verified: true, type: ${type} } }`
    return compilePolicy(`name: P\nrules: []\ntests: [{ ${request}, verdict: deny, ${facts} }]`)
  }
  for (const type of ['individual', 'business']) expect(() => read(type)).not.toThrow()
  expect(issuesOf(() => read('person')).map(({ message }) => message)).toEqual(['type must be individual or business'])
})
