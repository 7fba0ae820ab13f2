// Tests of the attack script's judge, routes and inputs, without a service.
import { describe, expect, test } from 'bun:test'
import { ADMIN_ROUTES } from '../admin/support/all-routes.ts'
import { judge } from './judge.ts'
import { createRandom } from './random.ts'
import { type AttackedRoute, attackedRoutes } from './routes.ts'
import { requestBytes, type WireAnswer, type WireRequest } from './wire.ts'

const routes = attackedRoutes()
const route = routes.find(({ name }) => name === 'listKeys') as AttackedRoute
const request: WireRequest = { method: 'GET', target: '/', headers: [], body: new Uint8Array(0), cutAfterBytes: null }
const problem = (status: number): string =>
  JSON.stringify({
    type: 'urn:x',
    title: 'X',
    status,
    detail: 'x',
    code: 'X',
    request_id: 'r',
    message: 'x',
    error: 'x',
  })
const answer = (status: number, body: string, headers: Record<string, string> = {}): WireAnswer => ({
  status,
  body,
  headers: new Map(Object.entries({ 'content-type': 'application/problem+json', 'x-request-id': 'r', ...headers })),
})
const faultOf = (given: WireAnswer | 'silent' | 'closed', foreign: readonly string[] = []): string | null =>
  judge(given, route, request, { secrets: new Set(['the-secret-of-somebody']), foreign }).fault

describe('the judge', () => {
  test('accepts valid answers, well-formed problems and Retry-After', () => {
    expect(faultOf(answer(200, '{}', { 'content-type': 'application/json' }))).toBeNull()
    expect(faultOf(answer(404, problem(404)))).toBeNull()
    expect(faultOf(answer(503, problem(503), { 'retry-after': '1' }))).toBeNull()
    expect(faultOf('closed')).toBeNull()
  })

  test.each([
    ['an internal error', answer(500, problem(500))],
    ['a 503 without Retry-After', answer(503, problem(503))],
    ['a problem with other members', answer(400, '{"message":"no"}')],
    ['a problem with another media type', answer(400, problem(400), { 'content-type': 'text/html' })],
    ['a problem with another status', answer(400, problem(404))],
    ['a problem with another request id', answer(400, problem(400), { 'x-request-id': 'other' })],
    ['a secret', answer(200, '["the-secret-of-somebody"]')],
    ['a stack', answer(200, '{"x":"at handle (/app/src/app.ts:1:1)"}')],
    ['words of the database', answer(200, 'SQLITE_BUSY')],
  ])('finds %s', (_, given) => expect(faultOf(given)).not.toBeNull())

  test('detects silence and data of other tenants', () => {
    expect(faultOf('silent')).not.toBeNull()
    expect(
      faultOf(answer(200, '["beta-canary"]', { 'content-type': 'application/json' }), ['beta-canary']),
    ).not.toBeNull()
    expect(faultOf(answer(200, '["beta-canary"]', { 'content-type': 'application/json' }))).toBeNull()
  })
})

test('attacks every declared route', () => {
  const names = new Set(routes.map(({ name }) => name))
  expect(ADMIN_ROUTES.filter(({ operationId }) => !names.has(operationId))).toEqual([])
  const of = (listener: string): number => routes.filter((each) => each.listener === listener).length
  expect(of('api')).toBeGreaterThanOrEqual(11)
  // 17 operations of the page, and the page's files.
  expect(of('portal')).toBeGreaterThanOrEqual(20)
})

test('a seed reproduces choices and the bytes of requests', () => {
  const choices = (seed: number): number[] => Array.from({ length: 20 }, () => createRandom(seed).below(1_000))
  const [first, second] = [createRandom(7), createRandom(7)]
  expect(Array.from({ length: 50 }, () => first.below(1_000))).toEqual(
    Array.from({ length: 50 }, () => second.below(1_000)),
  )
  expect(choices(7)).not.toEqual(choices(8))
  const sent = requestBytes({ ...request, method: 'POST', body: Buffer.from('{}'), headers: [['x', 'y']] })
  expect(Buffer.from(sent).toString()).toBe(
    'POST / HTTP/1.1\r\nx: y\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}',
  )
})
