// Log lines of failed requests: one per internal error, and one per second and outage.
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

test('every unexpected error is logged', () => {
  const bug = new Error('canary')
  report(bug, 'a')
  report(bug, 'b')
  expect(lines).toEqual([
    ['error', 'request failed', { requestId: 'a', error: bug }],
    ['error', 'request failed', { requestId: 'b', error: bug }],
  ])
})

test('an outage is logged immediately, and then once per second with the number of omitted lines', () => {
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

test('each outage has its own limit of lines', () => {
  report(new DependencyUnavailableError('the store is not available'), 'a')
  report(new DependencyUnavailableError('the decision log can not be written'), 'b')
  expect(lines.map(([, , { requestId }]) => requestId)).toEqual(['a', 'b'])
})

test('the number of remembered outages is limited', () => {
  for (let index = 0; index < 1_000; index++) report(new DependencyUnavailableError(`part ${index}`), 'a')
  report(new DependencyUnavailableError('part 0'), 'a')
  expect(lines).toHaveLength(1_001)
})

test('a line contains the trace id of the request', () => {
  report(new Error('canary'), 'a', '4bf92f3577b34da6a3ce929d0e0e4736')
  expect(lines[0]?.[2]).toMatchObject({ requestId: 'a', traceId: '4bf92f3577b34da6a3ce929d0e0e4736' })
})

test('refusals are logged at level info without values of the request, at most 50 per second', () => {
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
