// Screeners: requests, caching, unavailable screeners and malformed responses.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createScreener, readScreenerAnswer, ScreenerAnswerError } from '../../src/facts/screener.ts'
import { parseScreenerSettings, type ScreenerSettings } from '../../src/facts/screener-settings.ts'
import type { ScreenerFacts } from '../../src/policy/types/facts.ts'
import { createManualClock } from '../server/manual-clock.ts'
import { temporaryFolder } from '../store/temporary-store.ts'
import { chainOf } from '../support/request.ts'
import { requestOf, WALLET } from './fixtures.ts'

const folder = temporaryFolder()
const received: { url: string; headers: Headers; body: string }[] = []
let respond: (request: Request) => Response | Promise<Response> = () => Response.json({})
let server: ReturnType<typeof Bun.serve>

beforeAll(() => {
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url)
      received.push({ url: `${pathname}${search}`, headers: request.headers, body: await request.clone().text() })
      return respond(request)
    },
  })
})
afterEach(() => {
  received.length = 0
})
afterAll(async () => {
  await server.stop(true)
  folder.remove()
})

const settingsOf = (overrides: Readonly<Record<string, unknown>> = {}): ScreenerSettings => {
  const entry = {
    url: `http://127.0.0.1:${server.port}/screen`,
    reach: 'loopback',
    answer: { flagged: '/flagged', score: '/score', categories: '/categories' },
    ...overrides,
  }
  const settings = parseScreenerSettings({ risk: entry }).get('risk')
  if (settings === undefined) throw new Error('no settings')
  return settings
}

const create = (overrides: Readonly<Record<string, unknown>> = {}, environment: Record<string, string> = {}) => {
  const clock = createManualClock()
  const errors: unknown[] = []
  const screener = createScreener(settingsOf(overrides), { clock, environment, onError: (error) => errors.push(error) })
  return { clock, errors, screener }
}

const GOOD = { flagged: false, score: 12, categories: ['exchange'] }

describe('a screener', () => {
  test('receives the configured request once, and its response is cached', async () => {
    respond = () =>
      Response.json({ risk: { level: 'severe', score: 0.876 }, wallet: WALLET.toUpperCase().replace('0X', '0x') })
    const { clock, screener } = create(
      {
        url: `http://127.0.0.1:${server.port}/screen/\${chain}?id=\${chain_id}`,
        method: 'POST',
        headers: { Authorization: `Bearer \${secret}` },
        secret: { env: 'RISK_KEY' },
        body: { wallet: `\${address}`, on: [`\${chain}`] },
        answer: {
          address: '/wallet',
          flagged: { at: '/risk/level', equals: ['high', 'severe'] },
          score: { at: '/risk/score', times: 100 },
        },
        'cache-seconds': 30,
      },
      { RISK_KEY: 'test-secret' },
    )
    const expected: ScreenerFacts = { flagged: true, score: 88, categories: null }
    expect(await screener.screen(requestOf())).toEqual(expected)
    expect(received).toHaveLength(1)
    expect(received[0]?.url).toBe('/screen/base?id=8453')
    expect(received[0]?.headers.get('authorization')).toBe('Bearer test-secret')
    expect(received[0]?.headers.get('content-type')).toBe('application/json')
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({ wallet: WALLET, on: ['base'] })
    clock.advance(29_999)
    expect(screener.screen(requestOf())).toEqual(expected)
    // Answers are cached per chain.
    expect(await screener.screen(requestOf({ chain: chainOf('ethereum') }))).toEqual(expected)
    clock.advance(1)
    await screener.screen(requestOf())
    expect(received.slice(1).map(({ url }) => url)).toEqual(['/screen/ethereum?id=1', '/screen/base?id=8453'])
  })

  test.each([chainOf('solana'), { name: 'gone' }])(
    'receives the id 0 for a chain without an id: $name',
    async (chain) => {
      respond = () => Response.json(GOOD)
      const { screener } = create({ url: `http://127.0.0.1:${server.port}/\${chain}?id=\${chain_id}` })
      expect(await screener.screen({ from: requestOf().from, chain })).not.toBeNull()
      expect(received.map(({ url }) => url)).toEqual([`/${chain.name}?id=0`])
    },
  )

  test('reads its secret from a file for each request', async () => {
    respond = () => Response.json(GOOD)
    const path = join(folder.path, 'key')
    const settings = { headers: { 'x-key': `\${secret}` }, secret: { file: path }, 'cache-seconds': 0 }
    const { errors, screener } = create(settings)
    expect(await screener.screen(requestOf())).toBeNull()
    expect(received).toEqual([])
    writeFileSync(path, 'first-secret\n')
    await screener.screen(requestOf())
    writeFileSync(path, 'second-secret\n')
    await screener.screen(requestOf())
    expect(received.map(({ headers }) => headers.get('x-key'))).toEqual(['first-secret', 'second-secret'])
    writeFileSync(path, 'with\r\nx-injected: header')
    expect(await screener.screen(requestOf())).toBeNull()
    expect(JSON.stringify(errors)).not.toContain('secret-')
  })

  test('yields no result if it is slow, endless, redirecting, failing or unavailable, and is then not used', async () => {
    const answers: Readonly<Record<string, () => Response | Promise<Response>>> = {
      slow: () => new Promise<never>(() => undefined),
      endless: () =>
        new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) })),
      redirecting: () => new Response(null, { status: 307, headers: { location: 'http://169.254.169.254/' } }),
      failing: () => new Response('stack trace', { status: 503 }),
      empty: () => new Response(''),
    }
    const { errors, screener } = create({ 'timeout-ms': 60 })
    const wallets = Array.from({ length: 12 }, (_, index) => `0x${String(index).padStart(40, '0')}`)
    const kinds = Object.values(answers)
    for (const [index, from] of wallets.entries()) {
      respond = kinds[index % kinds.length] ?? respond
      expect(await screener.screen(requestOf({ from }))).toBeNull()
    }
    expect([received.length, errors.length]).toEqual([5, 5])
    expect(screener.counts()).toMatchObject({ answered: 0, failed: 5, refused: 7, open: true })
  })

  describe('that rejects wallets of one organization', () => {
    const A = { organizationId: 'A', deadlineMs: Number.POSITIVE_INFINITY }
    const B = { ...A, organizationId: 'B' }
    const other = requestOf({ from: `0x${'22'.repeat(20)}` })

    test.each([400, 404, 422, 200])('with %d remains available to others', async (status) => {
      respond = ({ url }) =>
        url.includes(WALLET) ? Response.json({ error: 'unsupported' }, { status }) : Response.json(GOOD)
      const { errors, screener } = create({ url: `http://127.0.0.1:${server.port}/\${address}` })
      for (let count = 0; count < 6; count++) expect(await screener.screen(requestOf(), A)).toBeNull()
      expect(errors).toHaveLength(6)
      expect(await screener.screen(other, B)).toEqual(GOOD)
    })

    test.each([401, 403, 429, 500, 503])('with %d, which affects every request, is not used', async (status) => {
      respond = () => new Response(null, { status })
      const { screener } = create()
      for (let count = 0; count < 6; count++) expect(await screener.screen(requestOf(), A)).toBeNull()
      expect([received.length, screener.counts().open]).toEqual([5, true])
    })
  })

  test('at a private address receives no requests', async () => {
    const { errors, screener } = create({ url: 'https://localhost/', reach: 'public' })
    expect(await screener.screen(requestOf())).toBeNull()
    expect(errors).toMatchObject([{ detail: 'resolves to an address that is not allowed' }])
  })
})

describe('an answer', () => {
  const read = (document: unknown, answer: Readonly<Record<string, unknown>>): ScreenerFacts | string => {
    const text = typeof document === 'string' ? document : JSON.stringify(document)
    try {
      return readScreenerAnswer(text, settingsOf({ answer }), WALLET)
    } catch (error) {
      expect(error).toBeInstanceOf(ScreenerAnswerError)
      return (error as ScreenerAnswerError).detail
    }
  }
  const FRACTION = 'the score is not a whole number: to scale fractions, set times'
  const CATEGORIES = 'the categories must be at most 64 strings of at most 64 characters'
  const NO_FLAG = 'the response has no flag'
  const OTHER = 'the response is for another address'
  const PATHS = { flagged: '/a~1b/0/c~0d', score: '/', categories: '/list' }
  const ECHO = { flagged: '/f', address: '/w' }
  const optional = { flagged: { at: '/f', optional: true }, score: { at: '/s', optional: true } }
  const unknown = { flagged: null, score: null, categories: null }

  test.each<[unknown, Record<string, unknown>, Partial<ScreenerFacts>]>([
    ['{ "a/b": [{ "c~d": true }], "": -0, "list": [] }', PATHS, { flagged: true, score: 0, categories: [] }],
    ['true', { flagged: '' }, { flagged: true }],
    [{}, optional, unknown],
    [{ f: 1 }, { flagged: { at: '/f', equals: '1' } }, { flagged: false }],
    [{ s: 0.57 }, { score: { at: '/s', times: 100 } }, { score: 57 }],
    [{ f: false, w: WALLET }, ECHO, { flagged: false }],
  ])('%j read with %j is %j', (document, answer, expected) => {
    expect(read(document, answer)).toEqual({ ...unknown, ...expected })
  })

  type Row = [document: unknown, answer: Record<string, unknown>, problem: string]
  test.each<Row>([
    [{}, { flagged: '/f' }, NO_FLAG],
    [{ s: null }, { score: '/s' }, 'the response has no score'],
    ['not json', { flagged: '/f' }, 'the response is not JSON'],
    [{ f: 'true' }, { flagged: '/f' }, 'the flag is neither true nor false'],
    [{ f: {} }, { flagged: { at: '/f', equals: 'x' } }, 'the flag is a list or an object'],
    ...['12', 1e300, 0.93, 0.05, 12.5].map((s) => [{ s }, { score: '/s' }, FRACTION] as Row),
    [{ s: 1e300 }, { score: { at: '/s', times: 100 } }, 'the score is not a whole number'],
    ...['a,b', [1], new Array(65).fill('a'), ['a'.repeat(65)]].map(
      (c) => [{ c }, { categories: '/c' }, CATEGORIES] as Row,
    ),
    [{ f: false, w: `0x${'b2'.repeat(20)}` }, ECHO, OTHER],
    [{ f: false }, ECHO, OTHER],
    // Prototypes are out of reach.
    [{}, { flagged: { at: '/constructor/name', equals: 'Object' } }, NO_FLAG],
    ['{"__proto__":{"flagged":true}}', { flagged: '/flagged' }, NO_FLAG],
  ])('%j read with %j is refused: %s', (document, answer, problem) => {
    expect(read(document, answer)).toStartWith(problem)
  })
})
