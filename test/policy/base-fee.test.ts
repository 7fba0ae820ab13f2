// Rules about the base fee of a chain: the required fact, and tests in the document.
import { expect, test } from 'bun:test'
import { compilePolicy } from '../../src/policy/cel/compile.ts'
import { runPolicyTests } from '../../src/policy/tools/policy-tests.ts'

const policyOf = (tests: string): string => `name: Not while gas is dear
default: allow
rules:
  - id: dear
    deny: chain.base_fee > gwei(50)
tests:
${tests}`

const REQUEST = 'request: { from: "0x1111111111111111111111111111111111111111" }'

test('a test can set the base fee', () => {
  const policy = compilePolicy(
    policyOf(`  - { ${REQUEST}, facts: { chain: { base_fee: 50 gwei } }, verdict: allow }
  - { ${REQUEST}, facts: { chain: { base_fee: "50000000001" } }, verdict: deny, rule: dear }
  - { ${REQUEST}, facts: { chain: {} }, verdict: failure, rule: dear }
  - { ${REQUEST}, verdict: failure, rule: dear }
`),
  )
  expect(policy.needs).toEqual([{ kind: 'base-fee' }])
  expect(runPolicyTests(policy).map(({ failure }) => failure)).toEqual([null, null, null, null])
})

test('a test is refused if its base fee is not an amount', () => {
  const source = policyOf(`  - { ${REQUEST}, facts: { chain: { base_fee: dear } }, verdict: allow }\n`)
  expect(() => compilePolicy(source)).toThrow(expect.objectContaining({ name: 'PolicyInvalidError' }))
})
