// Random expressions of the common part of policies and CEL, evaluated by a compiled policy and by @bufbuild/cel, which is
// independent of the library that evaluates policies.
import { celEnv, parse, plan } from '@bufbuild/cel'
import { create } from '@bufbuild/protobuf'
import { TimestampSchema } from '@bufbuild/protobuf/wkt'
import fc from 'fast-check'
import type { AttestationRequest } from '../../src/domain/attestation.ts'
import { compileExpression } from '../../src/policy/cel/expression.ts'
import { createPolicyScope } from '../../src/policy/cel/scope.ts'
import { finish } from '../../src/policy/cel/steps.ts'
import { requestOf } from '../support/request.ts'
import { NO_PARTS } from './support.ts'

type Kind = 'bool' | 'int' | 'string' | 'time' | 'duration' | 'ints' | 'strings'
type Generators = Record<Kind, string>

const quoted = (text: string): string => JSON.stringify(text)
const texts = fc.constantFrom('', 'a', 'b', 'ab', 'ba', 'aab', 'é', '😀', 'base', '192.0.2.1')

const infix = (operators: readonly string[], left: fc.Arbitrary<string>, right = left): fc.Arbitrary<string> =>
  fc.tuple(left, fc.constantFrom(...operators), right).map(([a, operator, b]) => `(${a} ${operator} ${b})`)
const choice = (condition: fc.Arbitrary<string>, value: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(condition, value, value).map(([test, yes, no]) => `(${test} ? ${yes} : ${no})`)
const loop = (list: fc.Arbitrary<string>, macro: string, body: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(list, body).map(([range, expression]) => `${range}.${macro}(x, ${expression})`)

const COMPARISONS = ['==', '!=', '<', '<=', '>', '>='] as const
const small = fc.integer({ min: -9, max: 9 }).map(String)
const large = fc.constantFrom('9223372036854775807', '-9223372036854775807', '4611686018427387904', '3037000500')

/** Bodies of loops: expressions over the loop variable, without nested loops. */
const intBody = fc.oneof(
  fc.constantFrom('x > 0', 'x == 1', 'x % 2 == 0', '10 / x > 1', 'x != chain.id', 'true', 'false'),
  fc.tuple(fc.constantFrom(...COMPARISONS), small).map(([operator, value]) => `x * x ${operator} ${value}`),
)
const stringBody = fc.constantFrom('x == "a"', 'x.startsWith("a")', 'x.contains(client.ip)', 'size(x) > 1', 'x != ""')

const instants = fc.constantFrom(
  'request.time',
  'timestamp("2026-01-31T12:00:00Z")',
  'timestamp("2024-02-29T23:59:59+02:00")',
)

const zones = fc.constantFrom('', '"Europe/Zurich"', '"Asia/Kathmandu"', '"America/Denver"', '"UTC"')

/** Expressions of type bool, with bounded nesting. */
export const expressions = fc.letrec<Generators>((tie) => {
  const [bool, int, string] = [tie('bool'), tie('int'), tie('string')]
  const [time, duration, ints, strings] = [tie('time'), tie('duration'), tie('ints'), tie('strings')]
  const nesting = { maxDepth: 4, depthSize: 'medium' } as const
  return {
    bool: fc.oneof(
      nesting,
      fc.constantFrom('true', 'false'),
      infix(COMPARISONS, int),
      infix(COMPARISONS, string),
      infix(COMPARISONS, time),
      infix(COMPARISONS, duration),
      infix(['==', '!='], bool),
      infix(['==', '!='], ints),
      infix(['==', '!='], strings),
      infix(['&&', '||'], bool),
      bool.map((operand) => `!${operand}`),
      infix(['in'], int, ints),
      infix(['in'], string, strings),
      fc
        .tuple(string, fc.constantFrom('startsWith', 'endsWith', 'contains'), string)
        .map(([a, method, b]) => `${a}.${method}(${b})`),
      fc.constantFrom('all', 'exists', 'exists_one').chain((macro) => loop(ints, macro, intBody)),
      fc.constantFrom('all', 'exists', 'exists_one').chain((macro) => loop(strings, macro, stringBody)),
      choice(bool, bool),
    ),
    int: fc.oneof(
      nesting,
      small.map((number) => `(${number})`),
      large.map((number) => `(${number})`),
      fc.constantFrom('chain.id', 'tx.data_size'),
      infix(['+', '-', '*', '/', '%'], int),
      int.map((operand) => `-${operand}`),
      string.map((operand) => `size(${operand})`),
      ints.map((operand) => `${operand}.size()`),
      fc.tuple(ints, int).map(([list, index]) => `${list}[${index}]`),
      fc
        .constantFrom('getFullYear', 'getMonth', 'getDate', 'getDayOfMonth', 'getDayOfWeek', 'getHours', 'getMinutes')
        .chain((method) => fc.tuple(time, zones).map(([operand, zone]) => `${operand}.${method}(${zone})`)),
      choice(bool, int),
    ),
    string: fc.oneof(
      nesting,
      texts.map(quoted),
      fc.constantFrom('chain.name', 'client.ip'),
      fc.tuple(strings, int).map(([list, index]) => `${list}[${index}]`),
      choice(bool, string),
    ),
    time: fc.oneof(nesting, instants, infix(['+', '-'], time, duration)),
    duration: fc.oneof(
      nesting,
      fc.constantFrom('duration("1h")', 'duration("90m")', 'duration("0s")', 'duration("36h")'),
      infix(['+', '-'], duration),
      // The instants are close to each other, because CEL's range ends with the year 9999 and that of policies does not.
      infix(['-'], instants),
    ),
    ints: fc.oneof(
      nesting,
      fc.array(int, { minLength: 1, maxLength: 4 }).map((members) => `[${members.join(', ')}]`),
      loop(ints, 'filter', intBody),
      loop(ints, 'map', fc.constantFrom('x + 1', 'x * x', '-x', '7 / x', 'tx.data_size')),
    ),
    strings: fc.oneof(
      nesting,
      fc.array(string, { minLength: 1, maxLength: 4 }).map((members) => `[${members.join(', ')}]`),
      loop(strings, 'filter', stringBody),
    ),
  }
}).bool

export const requests: fc.Arbitrary<AttestationRequest> = fc
  .record({
    chain: fc.record({ name: texts, family: fc.constant('evm'), chainId: fc.constantFrom(0, 1, 5, 8453) }),
    userIp: texts,
    bytes: fc.integer({ min: 0, max: 5 }),
    // 2020 to 2030.
    nowSeconds: fc.integer({ min: 1_577_836_800, max: 1_893_456_000 }),
  })
  .map(({ bytes, ...request }) => requestOf({ ...request, data: `0x${'ab'.repeat(bytes)}` }))

/** The value of an expression, or 'error'. */
export type Outcome = boolean | 'error'

/** The outcome of the expression in a policy; null if policies do not support the expression. */
export const ours = (expression: string, request: AttestationRequest): Outcome | null => {
  const scope = finish(createPolicyScope(NO_PARTS, null))
  const compiled = compileExpression(expression, scope)
  if ('issues' in compiled) return null
  scope.evaluation.bind({ request })
  try {
    return compiled.evaluate() as boolean
  } catch {
    return 'error'
  }
}

const environment = celEnv()

export const theirs = (expression: string, request: AttestationRequest): Outcome => {
  const result = plan(
    environment,
    parse(expression),
  )({
    chain: { id: BigInt(request.chain.family === 'evm' ? request.chain.chainId : 0), name: request.chain.name },
    tx: { data_size: BigInt((request.data.length - 2) / 2) },
    client: { ip: request.userIp },
    request: { time: create(TimestampSchema, { seconds: BigInt(request.nowSeconds) }) },
  })
  return typeof result === 'boolean' ? result : 'error'
}
