// Files of publishers that respond with 304, redirect, hang or exceed a limit.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { FetchFailedError } from '../../../src/facts/guarded-fetch.ts'
import { type FilesRequest, fetchFiles } from '../../../src/facts/lists/fetch-files.ts'

const received: { readonly path: string; readonly condition: string | null; readonly agent: string | null }[] = []
let contents: Record<string, string> = {}
let server: ReturnType<typeof Bun.serve>

beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      const { pathname } = new URL(request.url)
      const condition = request.headers.get('if-none-match') ?? request.headers.get('if-modified-since')
      received.push({ path: pathname, condition, agent: request.headers.get('user-agent') })
      const location = { '/moved': '/a', '/loop': '/loop', '/away': 'http://10.0.0.1/a' }[pathname]
      if (location !== undefined) return new Response(null, { status: 302, headers: { location } })
      if (pathname === '/hangs') return new Promise<Response>(() => undefined)
      if (pathname === '/always-304') return new Response(null, { status: 304 })
      if (pathname === '/dated') {
        const modified = 'Wed, 21 Oct 2026 07:28:00 GMT'
        if (condition === modified) return new Response(null, { status: 304 })
        return new Response('dated', { headers: { 'last-modified': modified } })
      }
      const content = contents[pathname] ?? ''
      const etag = `"${content}"`
      if (condition === etag) return new Response(null, { status: 304 })
      return new Response(content, { headers: { etag } })
    },
  })
})
afterAll(() => server.stop(true))

const request = (paths: readonly string[], more: Partial<FilesRequest> = {}): FilesRequest => ({
  urls: paths.map((path) => `http://127.0.0.1:${server.port}${path}`),
  redirectsTo: [`127.0.0.1:${server.port}`],
  reach: 'loopback',
  validators: {},
  maxBytes: 1_000,
  timeoutMs: 60_000,
  needsLength: true,
  ...more,
})

const textsOf = (files: readonly Uint8Array[]): readonly string[] => files.map((file) => new TextDecoder().decode(file))

describe('files of a list', () => {
  test('are fetched together, and only if one of them has changed', async () => {
    contents = { '/a': 'one', '/b': 'two' }
    const first = await fetchFiles(request(['/a', '/b']))
    expect(textsOf(first?.files ?? [])).toEqual(['one', 'two'])
    const { validators } = first ?? { validators: {} }
    received.length = 0
    expect(await fetchFiles(request(['/a', '/b'], { validators }))).toBeNull()
    expect(received.map(({ condition }) => condition)).toEqual(['"one"', '"two"'])
    expect(received[0]?.agent).toBe('countersign')
    contents = { '/a': 'one', '/b': 'three' }
    const second = await fetchFiles(request(['/a', '/b'], { validators }))
    expect(textsOf(second?.files ?? [])).toEqual(['one', 'three'])
  })

  test('are compared by their last modification if they have no ETag', async () => {
    const first = await fetchFiles(request(['/dated']))
    expect(await fetchFiles(request(['/dated'], { validators: first?.validators ?? {} }))).toBeNull()
  })

  test('can be redirected to a known host', async () => {
    contents = { '/a': 'one' }
    expect(textsOf((await fetchFiles(request(['/moved'])))?.files ?? [])).toEqual(['one'])
  })

  test.each<[string, Partial<FilesRequest>, RegExp]>([
    ['/moved', { redirectsTo: [] }, /redirects/],
    ['/away', {}, /redirects/],
    ['/away', { redirectsTo: ['10.0.0.1'] }, /addresses|reach|loopback|address/],
    ['/loop', {}, /redirects/],
    ['/hangs', { timeoutMs: 50 }, /timed out/],
    ['/always-304', {}, /304/],
    ['/a', { maxBytes: 2 }, /more than 2 bytes/],
  ])('%s with %j is refused', async (path, more, reason) => {
    contents = { '/a': 'one' }
    const refused = await fetchFiles(request([path], more)).catch((error: FetchFailedError) => error)
    expect((refused as FetchFailedError).detail).toMatch(reason)
  })
})
