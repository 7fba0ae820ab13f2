// What is logged of failed answers: each bug, and an outage once a second.
import { beforeEach, expect, test } from 'bun:test'
import {
  CountersignError,
  DependencyUnavailableError,
  FieldInvalidError,
  PolicyMissingError,
} from '../../src/domain/errors.ts'
import { createFailureReport, type FailureReport } from '../../src/telemetry/failure-report.ts'

class QueryRefused extends CountersignError {
  override readonly name = 'QueryRefused'
  constructor() {
    super('RATE_LIMITED', 'too many')
  }
}

type Line = readonly [level: string, message: string, fields: Readonly<Record<string, unknown>>]
let lines: Line[]
let nowMs: number
let report: FailureReport

beforeEach(() => {
  lines = []
  nowMs = 0
  const write =
    (level: string) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}) =>
      void lines.push([level, message, fields])
  report = createFailureReport({
    log: { error: write('error'), warn: write('warn'), info: write('info') },
    monotonicMs: () => nowMs,
  })
})

test('every error that is not ours is logged', () => {
  const bug = new Error('canary')
  report(bug, 'a')
  report(bug, 'b')
  expect(lines).toEqual([
    ['error', 'request failed', { requestId: 'a', error: bug }],
    ['error', 'request failed', { requestId: 'b', error: bug }],
  ])
})

test('an outage is logged at once, then once a second with what was left out', () => {
  const outage = new DependencyUnavailableError('the store is not available')
  for (let request = 0; request < 1_000; request++) report(outage, `r${request}`)
  nowMs = 999
  report(outage, 'still')
  expect(lines).toHaveLength(1)
  nowMs = 1_000
  report(outage, 'again')
  expect(
    lines.map(([level, , { requestId, code, detail, unlogged }]) => [level, requestId, code, detail, unlogged]),
  ).toEqual([
    ['warn', 'r0', 'DEPENDENCY_UNAVAILABLE', 'the store is not available', 0],
    ['warn', 'again', 'DEPENDENCY_UNAVAILABLE', 'the store is not available', 1_000],
  ])
})

test('one outage does not hide another', () => {
  report(new DependencyUnavailableError('the store is not available'), 'a')
  report(new DependencyUnavailableError('the decision log can not be written'), 'b')
  expect(lines.map(([, , { requestId }]) => requestId)).toEqual(['a', 'b'])
})

test('however many outages there are, few are kept', () => {
  for (let index = 0; index < 1_000; index++) report(new DependencyUnavailableError(`part ${index}`), 'a')
  report(new DependencyUnavailableError('part 0'), 'a')
  expect(lines).toHaveLength(1_001)
})

test('the trace of the request is named, if it has one', () => {
  report(new Error('canary'), 'a', '4bf92f3577b34da6a3ce929d0e0e4736')
  expect(lines[0]?.[2]).toMatchObject({ requestId: 'a', traceId: '4bf92f3577b34da6a3ce929d0e0e4736' })
})

test('a refusal is a line each at info, without what was sent; under load most are only counted', () => {
  const secret = 'csa_live_canary'
  report(new PolicyMissingError('verification hash', secret), 'a')
  report(new FieldInvalidError('from', 'must be an EVM address'), 'b')
  expect(lines).toEqual([
    ['info', 'request refused', { requestId: 'a', status: 400, code: 'POLICY_NOT_FOUND', unlogged: 0 }],
    ['info', 'request refused', { requestId: 'b', status: 400, code: 'INVALID_FIELD', field: 'from', unlogged: 0 }],
  ])
  expect(JSON.stringify(lines)).not.toContain(secret)
  for (let request = 0; request < 10_000; request++) report(new QueryRefused(), `r${request}`)
  expect(lines.length).toBe(50)
  nowMs = 1_000
  report(new QueryRefused(), 'later')
  expect(lines.at(-1)?.[2]).toMatchObject({ requestId: 'later', unlogged: 10_002 - 50 })
})
