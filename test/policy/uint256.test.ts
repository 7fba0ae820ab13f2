// uint256 against BigInt: exact inside the range, an error outside of it, and ints mixed in where they are not negative.

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

  test.each(Object.keys(COMPARISON))('%s of values that are equal, and one apart', (operator) => {
    for (const value of [1n, 2n ** 64n, MAX_UINT256 - 1n]) {
      for (const other of [value - 1n, value, value + 1n]) {
        const held = holds(`tx.value ${operator} uint256("${other}")`, { value: String(value) })
        expect([other - value, held]).toEqual([other - value, COMPARISON[operator]!(value, other)])
      }
    }
  })

  test('arithmetic, both ways round', () => {
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
    fc.assert(
      fc.property(
        uint256,
        fc.array(uint256, { minLength: 1, maxLength: 5 }),
        fc.array(int, { minLength: 1 }),
        (value, list, ints) => {
          const changes = { value: String(value) }
          expect(holds(`tx.value in [${list.map((member) => `uint256("${member}")`).join(', ')}]`, changes)).toBe(
            list.includes(value),
          )
          expect(holds(`tx.value in [${ints.join(', ')}]`, changes)).toBe(ints.includes(value))
        },
      ),
      { numRuns: 100 },
    )
  })

  test('an int that turns out negative is an error in every operation', () => {
    const negative = '(0 - tx.data_size - 1)'
    for (const operator of [...Object.keys(ARITHMETIC), ...Object.keys(COMPARISON)]) {
      for (const pair of [`tx.value ${operator} ${negative}`, `${negative} ${operator} tx.value`]) {
        const expression = operator in COMPARISON ? pair : `(${pair}) >= 0`
        expect(() => holds(expression)).toThrow(PolicyEvaluationError)
      }
    }
  })

  test('an int that is written negative is refused', () => {
    expect(refusalOf('tx.value > -1')).toBe('a uint256 cannot be negative')
    expect(refusalOf('-5 + tx.value > 1')).toBe('a uint256 cannot be negative')
    expect(holds('tx.value == -0')).toBe(true)
  })
})

describe('literals', () => {
  test.each([
    ['uint256("0") == 0'],
    ['uint256(7) == uint256("7")'],
    ['uint256("0xff") == 255'],
    ['uint256("0xFf") == 255'],
    [`uint256("${MAX_UINT256}") == uint256("0x${'f'.repeat(64)}")`],
    ['uint256(tx.data_size) == 0'],
    ['ether(1) == uint256("1000000000000000000")'],
    ['ether("0.000000000000000001") == 1'],
    ['ether("1.50") == uint256("1500000000000000000")'],
    ['gwei("1.5") == 1500000000'],
    ['sol("1.5") == 1500000000'],
    ['lamports(5) == 5'],
    ['lamports("5") == 5'],
    ['ether(99999999999999999999) == ether("99999999999999999999")'],
  ])('%s', (expression) => {
    expect(holds(expression)).toBe(true)
  })

  const UINT256 = 'a uint256 must be a whole number in decimal digits or 0x hex, without sign or separators'
  test.each([
    ['uint256("")', UINT256],
    ['uint256(" 12 ")', UINT256],
    ['uint256("-1")', UINT256],
    ['uint256("+1")', UINT256],
    ['uint256("1e18")', UINT256],
    ['uint256("1_000")', UINT256],
    ['uint256("01")', UINT256],
    ['uint256("0x")', UINT256],
    ['uint256("1n")', UINT256],
    ['uint256("٣")', UINT256],
    [`uint256("0x1${'0'.repeat(64)}")`, UINT256],
    [`uint256("${MAX_UINT256 + 1n}")`, 'the number is too large for uint256'],
    [`uint256("${'9'.repeat(78)}")`, 'the number is too large for uint256'],
    [`uint256("${'9'.repeat(79)}")`, UINT256],
    ['uint256(client.ip)', 'uint256() takes an int or a string literal'],
    ['uint256(true)', 'uint256() takes an int or a string literal'],
    ['ether("")', 'ether() takes a decimal number, for example ether("1.5")'],
    ['ether("1.")', 'ether() takes a decimal number, for example ether("1.5")'],
    ['ether(".5")', 'ether() takes a decimal number, for example ether("1.5")'],
    ['ether("1.2.3")', 'ether() takes a decimal number, for example ether("1.5")'],
    ['ether("1e3")', 'ether() takes a decimal number, for example ether("1.5")'],
    ['ether("-1")', 'ether() takes a decimal number, for example ether("1.5")'],
    ['ether("0.0000000000000000001")', 'ether() takes at most 18 decimals'],
    ['gwei("0.0000000001")', 'gwei() takes at most 9 decimals'],
    ['lamports("1.5")', 'lamports() takes at most 0 decimals'],
    [`ether("${'9'.repeat(70)}")`, 'the number is too large for uint256'],
    ['ether(tx.data_size)', 'ether() takes a number literal, or a string literal for fractions'],
    ['ether(1.5)', 'ether() takes a number literal, or a string literal for fractions'],
    ['ether(-1)', 'ether() takes a number literal, or a string literal for fractions'],
  ])('%s is refused', (literal, message) => {
    expect(refusalOf(`tx.value == ${literal}`)).toBe(message)
  })

  test('are read once, when the policy is compiled', () => {
    const original = BigInt.prototype.constructor as typeof BigInt
    const scope = finish(createPolicyScope(NO_PARTS, null))
    const compiled = compileExpression(
      'ether("1.5") == uint256("1500000000000000000") && ether(1) in [ether(1), ether(2)]',
      scope,
    )
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

test('the value of a request is converted once, and only when a rule reads it', () => {
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
