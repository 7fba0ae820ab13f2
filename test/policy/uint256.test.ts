// uint256 compared with BigInt: exact in its range, an error outside of it, and usable with nonnegative ints.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { AttestationRequest } from '../../src/domain/attestation.ts'
import { compileExpression } from '../../src/policy/cel/expression.ts'
import { createPolicyScope } from '../../src/policy/cel/scope.ts'
import { finish } from '../../src/policy/cel/steps.ts'
import { PolicyEvaluationError } from '../../src/policy/evaluation-errors.ts'
import { MAX_UINT256 } from '../../src/policy/values.ts'
import { requestOf } from '../support/request.ts'
import { facts, holds, NO_PARTS, policyOf, refusalOf } from './support.ts'

const ARITHMETIC: Readonly<Record<string, (a: bigint, b: bigint) => bigint | null>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => (b === 0n ? null : a / b),
  '%': (a, b) => (b === 0n ? null : a % b),
}
const COMPARISON: Readonly<Record<string, (a: bigint, b: bigint) => boolean>> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
}

const MAX_INT = 2n ** 63n - 1n
const uint256 = fc.oneof(
  fc.bigInt({ min: 0n, max: MAX_UINT256 }),
  fc.bigInt({ min: 0n, max: 3n }),
  fc.bigInt({ min: MAX_UINT256 - 3n, max: MAX_UINT256 }),
  fc.bigInt({ min: 0n, max: 2n ** 128n }),
)
const int = fc.oneof(fc.bigInt({ min: 0n, max: MAX_INT }), fc.bigInt({ min: 0n, max: 3n }))
/** An operand of the language, and its value. */
const operand = fc.oneof(
  uint256.map((value) => ({ value, text: `uint256("${value}")` })),
  uint256.map((value) => ({ value, text: `uint256("0x${value.toString(16)}")` })),
  int.map((value) => ({ value, text: String(value) })),
)
const left = uint256.map((value) => ({ value, text: 'tx.value' }))

describe('against BigInt', () => {
  test('comparisons', () => {
    fc.assert(
      fc.property(left, operand, fc.constantFrom(...Object.keys(COMPARISON)), (a, b, operator) => {
        const changes = { value: String(a.value) }
        expect(holds(`${a.text} ${operator} ${b.text}`, changes)).toBe(COMPARISON[operator]!(a.value, b.value))
        expect(holds(`${b.text} ${operator} ${a.text}`, changes)).toBe(COMPARISON[operator]!(b.value, a.value))
      }),
      { numRuns: 300 },
    )
  })

  test.each(Object.keys(COMPARISON))('%s of equal and adjacent values', (operator) => {
    for (const value of [1n, 2n ** 64n, MAX_UINT256 - 1n]) {
      for (const other of [value - 1n, value, value + 1n]) {
        const held = holds(`tx.value ${operator} uint256("${other}")`, { value: String(value) })
        expect([other - value, held]).toEqual([other - value, COMPARISON[operator]!(value, other)])
      }
    }
  })

  test('arithmetic, with operands in both orders', () => {
    const check = (expression: string, value: bigint, expected: bigint | null): void => {
      if (expected === null || expected < 0n || expected > MAX_UINT256) {
        expect(() => holds(`${expression} >= 0`, { value: String(value) })).toThrow(PolicyEvaluationError)
      } else {
        expect(holds(`${expression} == uint256("${expected}")`, { value: String(value) })).toBe(true)
      }
    }
    fc.assert(
      fc.property(left, operand, fc.constantFrom(...Object.keys(ARITHMETIC)), (a, b, operator) => {
        check(`${a.text} ${operator} ${b.text}`, a.value, ARITHMETIC[operator]!(a.value, b.value))
        check(`${b.text} ${operator} ${a.text}`, a.value, ARITHMETIC[operator]!(b.value, a.value))
      }),
      { numRuns: 300 },
    )
  })

  test('membership', () => {
    const lists = fc.record({
      list: fc.array(uint256, { minLength: 1, maxLength: 5 }),
      ints: fc.array(int, { minLength: 1 }),
    })
    fc.assert(
      fc.property(uint256, lists, (value, { list, ints }) => {
        const literals = list.map((member) => `uint256("${member}")`)
        for (const [members, texts] of [
          [list, literals],
          [ints, ints],
        ] as const) {
          expect(holds(`tx.value in [${texts.join(', ')}]`, { value: String(value) })).toBe(members.includes(value))
        }
      }),
      { numRuns: 100 },
    )
  })

  const operators = [...Object.keys(ARITHMETIC), ...Object.keys(COMPARISON)]
  test.each(operators)('a computed negative int is an error: %s', (operator) => {
    const negative = '(0 - tx.data_size - 1)'
    for (const pair of [`tx.value ${operator} ${negative}`, `${negative} ${operator} tx.value`]) {
      expect(() => holds(operator in COMPARISON ? pair : `(${pair}) >= 0`)).toThrow(PolicyEvaluationError)
    }
  })

  test('a negative literal is refused', () => {
    expect(refusalOf('tx.value > -1')).toBe('a uint256 cannot be negative')
    expect(refusalOf('-5 + tx.value > 1')).toBe('a uint256 cannot be negative')
    expect(holds('tx.value == -0')).toBe(true)
  })
})

describe('literals', () => {
  test.each([
    'uint256("0") == 0',
    'uint256(7) == uint256("7")',
    'uint256("0xff") == 255',
    'uint256("0xFf") == 255',
    `uint256("${MAX_UINT256}") == uint256("0x${'f'.repeat(64)}")`,
    'uint256(tx.data_size) == 0',
    'ether(1) == uint256("1000000000000000000")',
    'ether("0.000000000000000001") == 1',
    'ether("1.50") == uint256("1500000000000000000")',
    'gwei("1.5") == 1500000000',
    'sol("1.5") == 1500000000',
    'lamports(5) == 5',
    'lamports("5") == 5',
    'ether(99999999999999999999) == ether("99999999999999999999")',
  ])('%s', (expression) => expect(holds(expression)).toBe(true))

  const UINT256 = 'a uint256 must be a whole number in decimal digits or 0x hex, without a sign or separators'
  const WHOLE = ['""', '" 12 "', '"-1"', '"+1"', '"1e18"', '"1_000"', '"01"', '"0x"', '"1n"', '"٣"']
  const LONG = [`"0x1${'0'.repeat(64)}"`, `"${'9'.repeat(79)}"`]
  const DECIMAL = 'ether() takes a decimal number, for example ether("1.5")'
  const LITERAL = 'ether() takes a number literal, or a string literal for fractions'
  test.each([
    ...[...WHOLE, ...LONG].map((text) => [`uint256(${text})`, UINT256] as const),
    [`uint256("${MAX_UINT256 + 1n}")`, 'the number is too large for uint256'],
    [`uint256("${'9'.repeat(78)}")`, 'the number is too large for uint256'],
    ['uint256(client.ip)', 'uint256() takes an int or a string literal'],
    ['uint256(true)', 'uint256() takes an int or a string literal'],
    ...['', '1.', '.5', '1.2.3', '1e3', '-1'].map((text) => [`ether("${text}")`, DECIMAL] as const),
    ['ether("0.0000000000000000001")', 'ether() takes at most 18 decimals'],
    ['gwei("0.0000000001")', 'gwei() takes at most 9 decimals'],
    ['lamports("1.5")', 'lamports() takes at most 0 decimals'],
    [`ether("${'9'.repeat(70)}")`, 'the number is too large for uint256'],
    ...['tx.data_size', '1.5', '-1'].map((text) => [`ether(${text})`, LITERAL] as const),
  ])('%s is refused', (literal, message) => expect(refusalOf(`tx.value == ${literal}`)).toBe(message))

  test('are converted once, when the policy is compiled', () => {
    const original = BigInt.prototype.constructor as typeof BigInt
    const scope = finish(createPolicyScope(NO_PARTS, null))
    const expression = 'ether("1.5") == uint256("1500000000000000000") && ether(1) in [ether(1), ether(2)]'
    const compiled = compileExpression(expression, scope)
    if ('issues' in compiled) throw new Error('refused')
    scope.evaluation.bind(facts())
    let conversions = 0
    const counting = new Proxy(original, {
      apply: (target, self, parameters: [bigint]) => {
        conversions++
        return Reflect.apply(target, self, parameters)
      },
    })
    globalThis.BigInt = counting
    try {
      expect(compiled.evaluate()).toBe(true)
    } finally {
      globalThis.BigInt = original
    }
    expect(conversions).toBe(0)
  })
})

test('the value of a request is converted once, and only if a rule reads it', () => {
  const reads: string[] = []
  const request = new Proxy(requestOf({ value: '7' }), {
    get: (target, field: keyof AttestationRequest) => {
      reads.push(field)
      return target[field]
    },
  })
  policyOf('chain.id == 2').evaluate({ request })
  expect(reads).toEqual(['chain'])
  reads.length = 0
  policyOf('tx.value > 100 || tx.value > 200 || tx.value == 7').evaluate({ request })
  expect(reads).toEqual(['value'])
})
