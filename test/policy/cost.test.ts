// The worst-case cost of a policy: estimated when it is saved, from the sizes in its text, and refused above the limit.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { compilePolicy } from '../../src/policy/cel/compile.ts'
import { compileExpression } from '../../src/policy/cel/expression.ts'
import { POLICY_LIMITS } from '../../src/policy/cel/limits.ts'
import { createPolicyScope } from '../../src/policy/cel/scope.ts'
import { finish } from '../../src/policy/cel/steps.ts'
import { childrenOf, isConstant, type SyntaxNode } from '../../src/policy/cel/syntax.ts'
import { facts, issuesOf, NO_PARTS, thrownBy } from './support.ts'

const compiled = (expression: string) => {
  const result = compileExpression(expression, finish(createPolicyScope(NO_PARTS, null)))
  if ('issues' in result) throw new Error(result.issues[0]?.message)
  return result
}
const steps = (expression: string): number => compiled(expression).steps
const list = (elements: number, element: (i: number) => string): string =>
  `[${Array.from({ length: elements }, (_, i) => element(i)).join(', ')}]`
const numbers = (elements: number): string => list(elements, String)

describe('the estimate', () => {
  test('multiplies the cost of a loop body by the length of its list', () => {
    const once = steps(`${numbers(1)}.exists(x, x == chain.id)`)
    const often = steps(`${numbers(100)}.exists(x, x == chain.id)`)
    expect(often).toBeGreaterThan(90 * (once - 20))
    expect(steps(`${numbers(100)}.exists(x, x == chain.id || x == chain.id)`)).toBeGreaterThan(1.5 * often)
  })

  test('includes the length of lists from loops', () => {
    const loop = `${numbers(100)}.map(x, -x).filter(x, x != 5)`
    expect(steps(`chain.id in ${loop}`)).toBeGreaterThan(steps(`chain.id in ${numbers(100)}`))
    expect(steps(`${loop}.all(x, x == chain.id)`)).toBeGreaterThan(2 * steps(`${numbers(100)}.all(x, x == chain.id)`))
  })

  test('charges operations that can fail with the cost of a failure', () => {
    expect(steps('1 / chain.id == 1')).toBeGreaterThan(300)
    expect(steps('tx.value - 1 == 1')).toBeGreaterThan(50)
    expect(steps('tx.value > 1')).toBeLessThan(10)
    expect(steps('size([1 / chain.id]) == 1')).toBeGreaterThan(300)
    // The library copies the expression into its error.
    expect(steps(`1 / chain.id == 1${' '.repeat(8000)}`)).toBeGreaterThan(2000)
  })

  test('counts the characters in strings', () => {
    const long = `"${'a'.repeat(256)}"`
    expect(steps(`size(${long}) == 1`)).toBeGreaterThan(100)
    expect(steps(`${long}.contains(${long})`)).toBeGreaterThan(2000)
    expect(steps('client.ip.contains(client.ip)')).toBeGreaterThan(100)
    expect(steps('["a", "b"].exists(x, x == "a")')).toBeLessThan(steps(`[${long}].exists(x, x.size() == 1)`))
  })

  test('accepts ordinary policies', () => {
    const six =
      'wallet.address != target.address && chain.name != "base" && tx.value <= ether(100) && tx.data_size < 5000 && ' +
      'tx.selector != "0xa9059cbb" && request.time > timestamp("2025-01-01T00:00:00Z")'
    expect(200 * steps(six)).toBeLessThan(POLICY_LIMITS.evaluationSteps)
    const wallets = list(128, (i) => `address("0x${i.toString(16).padStart(40, '0')}")`)
    expect(50 * steps(`wallet.address in ${wallets}`)).toBeLessThan(POLICY_LIMITS.evaluationSteps)
  })
})

describe('a hostile policy', () => {
  const rules = (count: number, expression: string): string =>
    `name: P\nrules: ${JSON.stringify(Array.from({ length: count }, (_, i) => ({ id: `r${i}`, deny: expression })))}`
  const refusals = (source: string): string[] => issuesOf(() => compilePolicy(source)).map(({ message }) => message)

  test.each([
    ['failures in a loop', 1, `${numbers(128)}.exists(x, 1 / (x - x) > 0 || 1 / (x - x) > 0)`],
    ['failures in a row', 1, `${Array(100).fill('1 / (chain.id - chain.id) > 0').join(' || ')} || true`],
    ['failing uint256', 1, `${numbers(128)}.exists(x, ${Array(8).fill('tx.value - ether(2) > x').join(' || ')})`],
    ['size() of long texts', 4, `${list(25, () => `"${'a'.repeat(255)}"`)}.exists(x, size(x) + size(x) == 5)`],
    ['searches in texts', 9, `${list(30, () => `"${'a'.repeat(250)}"`)}.exists(x, x.contains("${'a'.repeat(124)}b"))`],
    ['lists in loops', 4, `${numbers(120)}.exists(x, -x in ${numbers(120)})`],
    ['list comparisons in loops', 1, `${numbers(120)}.exists(x, ${list(60, () => 'x')} == ${list(60, () => 'x')})`],
    ['long loops', 5, `${numbers(128)}.exists(x, ${Array(40).fill('tx.selector == ""').join(' || ')})`],
    ['loops in a row', 6, `${numbers(128)}${'.filter(x, x != 500)'.repeat(14)}.size() == 1`],
  ])('of %s is refused', (_name, count, expression) => {
    const [message] = refusals(rules(count, expression))
    expect(message).toMatch(/^the rules up to this one can take \d+ steps to evaluate; the limit is 20000$/)
  })

  const SIZE = 'the rules up to this one exceed the size limit of a policy'
  const parts = Array(200).fill('true').join(' || ')
  test('of many parts is refused', () => {
    expect(refusals(rules(30, parts))).toEqual([SIZE])
    const found = refusals(rules(60, `${parts} || nope`))
    expect(found.filter((message) => message.startsWith('unknown name "nope"'))).toHaveLength(21)
    expect(found).toContain(SIZE)
  })

  test('of many mistakes is compiled up to the hundredth mistake', () => {
    const source = rules(60, Array(80).fill('nope').join(' || '))
    expect(thrownBy(() => compilePolicy(source))).toMatchObject({ detail: 'the policy has 100 mistakes' })
  })
})

describe('literals are folded, so that the library does not evaluate them', () => {
  test.each([
    ['wallet.address in [address("0xABabABabABabABabABabABabABabABabABabABab")]', 1],
    ['tx.value in [ether(1), uint256("5"), gwei(3)]', 1],
    ['request.time in [timestamp("2026-01-01T00:00:00Z")]', 1],
    ['duration("1h") in [duration("60m")]', 1],
    ['chain.id in [1, 2, 3]', 1],
    ['chain.id in [1, chain.id, 3]', 0],
  ] as const)('%s', (expression, folded) => {
    const { root } = compiled(expression)
    const lists: SyntaxNode[] = []
    const visit = (node: SyntaxNode): void => {
      if (node.op === 'list') lists.push(node)
      childrenOf(node).forEach(visit)
    }
    visit(root)
    expect(lists.filter(isConstant)).toHaveLength(folded)
    if (folded === 0) return
    // A folded list is the same immutable object in each evaluation.
    const folding = lists[0] as unknown as { evaluate: (...parameters: unknown[]) => unknown }
    const [first, second] = [folding.evaluate(null, folding, null), folding.evaluate(null, folding, null)]
    expect(first).toBe(second)
    expect(Object.isFrozen(first)).toBe(true)
  })
})

test('every accepted expression yields a boolean or a failure, for any request', () => {
  const names = ['tx.value', 'chain.id', 'tx.data_size', 'client.ip', 'chain.name', 'tx.selector', 'wallet.address']
  const literals = ['0', '7', '-3', '"a"', '""', 'true', 'false', 'duration("1h")', 'uint256("5")', 'ether(1)']
  const leaf = fc.constantFrom(
    ...names,
    ...literals,
    'x',
    'target.address',
    'request.time',
    'timestamp("2026-01-01T00:00:00Z")',
    'address("0xABabABabABabABabABabABabABabABabABabABab")',
  )
  const operators = fc.constantFrom('==', '<', '+', '-', '*', '/', '%', '&&', '||', 'in', '!=')
  const loops = fc.constantFrom('exists', 'all', 'map', 'filter', 'exists_one')
  const { expression } = fc.letrec<{ expression: string }>((tie) => ({
    expression: fc.oneof(
      { maxDepth: 5, depthSize: 'medium' },
      leaf,
      fc
        .tuple(tie('expression'), operators, tie('expression'))
        .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
      fc.array(tie('expression'), { minLength: 1, maxLength: 3 }).map((members) => `[${members.join(', ')}]`),
      fc
        .tuple(tie('expression'), loops, tie('expression'))
        .map(([range, loop, body]) => `${range}.${loop}(x, ${body})`),
      fc.tuple(tie('expression'), tie('expression')).map(([items, index]) => `${items}[${index}]`),
      tie('expression').map((operand) => `!${operand}`),
      tie('expression').map((operand) => `size(${operand})`),
      fc
        .tuple(tie('expression'), tie('expression'), tie('expression'))
        .map(([condition, yes, no]) => `(${condition} ? ${yes} : ${no})`),
    ),
  }))
  const scope = finish(createPolicyScope(NO_PARTS, null))
  let accepted = 0
  fc.assert(
    fc.property(expression, fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (text, value) => {
      if (text.length > POLICY_LIMITS.expressionLength) return
      const result = compileExpression(text, scope)
      if ('issues' in result) {
        expect(result.issues.length).toBeGreaterThan(0)
        for (const { at } of result.issues) expect(at >= 0 && at <= text.length).toBe(true)
        return
      }
      accepted++
      scope.evaluation.bind(facts({ value: String(value) }))
      try {
        expect(typeof result.evaluate()).toBe('boolean')
      } catch (error) {
        // Failures that the language defines.
        if (!(error instanceof Error && ['ArithmeticRangeError', 'EvaluationError'].includes(error.name))) throw error
      }
    }),
    { numRuns: 3000 },
  )
  expect(accepted).toBeGreaterThan(20)
})
