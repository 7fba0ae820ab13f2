// Paths and methods of a listener's routes, in cases that do not occur on the listeners of the service.
import { afterAll, expect, test } from 'bun:test'
import { type AnyElysia, Elysia } from 'elysia'
import { fixedError } from '../../src/domain/errors.ts'
import { type Listener, startListener } from '../../src/server/listener.ts'
import { createRequestIds } from '../../src/server/request-id.ts'
import { problemResponse } from '../../src/server/response.ts'
import { exchange } from './exchange.ts'

class SubjectMissingError extends fixedError('NOT_FOUND', 'there is no such subject') {}

const start = (app: AnyElysia): Listener =>
  startListener({
    app,
    listen: { hostname: '127.0.0.1', port: 0 },
    publicUrl: 'http://127.0.0.1',
    tls: null,
    idleTimeoutSeconds: 10,
    requestIds: createRequestIds('test'),
    answersHead: false,
    pages: (_request, path) => (path === '/page' ? new Response('page') : null),
    toResponse: (error, requestId) => problemResponse(error, requestId),
  })
const listener = start(
  new Elysia()
    .get('/things/:thing', ({ params }) => new Response(params.thing))
    .delete('/things/:other', () => new Response(null, { status: 204 }))
    .post('/things/search', () => new Response('found'))
    .post(
      '/refuse',
      async ({ request }) => {
        await request.body?.getReader().read()
        throw new SubjectMissingError()
      },
      { parse: 'none' },
    )
    .post('/echo', async ({ request }) => new Response(await request.text()), { parse: 'none' })
    .get('/missing', () => {
      throw new SubjectMissingError()
    }),
)
afterAll(() => listener.stopNow())

const answer = async (method: string, path: string): Promise<string> => {
  const { status, headers } = await fetch(`${listener.url}${path}`, { method })
  return `${status} ${headers.get('allow') ?? ''}`.trim()
}

test.each([
  ['POST', '/things/search', '200'],
  ['GET', '/things/search', '405 POST'],
  ['DELETE', '/things/search', '405 POST'],
  ['DELETE', '/things/other', '204'],
  ['PATCH', '/things/other', '405 GET, DELETE'],
  ['PATCH', '/things/', '404'],
  // This listener answers HEAD for pages only.
  ['HEAD', '/things/other', '405 GET, DELETE'],
  ['HEAD', '/page', '200'],
  ['POST', '/page', '405 GET'],
])('%s %s is %s, because a literal segment precedes a parameter', async (method, path, expected) =>
  expect(await answer(method, path)).toBe(expected),
)

test('a method that Bun does not route yields 405', async () => {
  const head = 'HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
  const received = await exchange(Number(new URL(listener.url).port), `PROPFIND /things/search ${head}`)
  expect(received).toStartWith('HTTP/1.1 405')
  expect(received).toMatch(/^allow: POST\r$/im)
})

test('an error from a route keeps its own text', async () => {
  const response = await fetch(`${listener.url}/missing`)
  expect(await response.json()).toMatchObject({ status: 404, detail: 'there is no such subject' })
})

test('two routes for the same requests prevent the start', () => {
  const app = new Elysia().get('/things/:thing', () => 'one').get('/things/:other', () => 'two')
  expect(() => start(app)).toThrow('/things/: has two routes for one method')
})

test.each([
  ['a route that answers immediately', 'GET /things/one', ''],
  ['a route that reads the body', 'POST /echo', '{}'],
  ['a route that fails', 'GET /missing', ''],
  ['a page', 'GET /page', ''],
  ['an unknown path', 'GET /nothing', ''],
])('a connection that pipelines requests is closed before the first response: %s', async (_, line, body) => {
  const head = `${line} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n`
  const pipelined = `${head}\r\n${body}${head}Connection: close\r\n\r\n${body}`
  expect(await exchange(Number(new URL(listener.url).port), pipelined)).toBe('')
})

const CHUNKED = 'HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n'

test.each(['GET /things/one', 'POST /things/search', 'GET /missing', 'GET /page', 'POST /nothing', 'POST /refuse'])(
  'an unread chunked body ends with the response: %s',
  async (line) => {
    const received = await exchange(Number(new URL(listener.url).port), `${line} ${CHUNKED}`)
    expect(received).toMatch(/^HTTP\/1\.1 [24]0/)
    expect(received).toMatch(/^connection: close\r$/im)
  },
)

test('a chunked body that is read keeps the connection open', async () => {
  const body = new ReadableStream({
    start: (controller) => {
      controller.enqueue('text')
      controller.close()
    },
  })
  const response = await fetch(`${listener.url}/echo`, { method: 'POST', body })
  expect([await response.text(), response.headers.get('connection')]).toEqual(['text', null])
})
