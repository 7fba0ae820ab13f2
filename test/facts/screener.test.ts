// Screeners that answer, and screeners that are slow, endless, redirecting, private or lying.
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
const seen: { url: string; headers: Headers; body: string }[] = []
let respond: (request: Request) => Response | Promise<Response> = () => Response.json({})
let server: ReturnType<typeof Bun.serve>

beforeAll(() => {
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url)
      seen.push({ url: `${pathname}${search}`, headers: request.headers, body: await request.clone().text() })
      return respond(request)
    },
  })
})
afterEach(() => {
  seen.length = 0
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
  test('is asked as it was configured, once, and its answer kept for its time', async () => {
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
    expect(seen).toHaveLength(1)
    expect(seen[0]?.url).toBe('/screen/base?id=8453')
    expect(seen[0]?.headers.get('authorization')).toBe('Bearer test-secret')
    expect(seen[0]?.headers.get('content-type')).toBe('application/json')
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ wallet: WALLET, on: ['base'] })
    clock.advance(29_999)
    expect(screener.screen(requestOf())).toEqual(expected)
    // The chain is part of the question.
    expect(await screener.screen(requestOf({ chain: chainOf('ethereum') }))).toEqual(expected)
    clock.advance(1)
    await screener.screen(requestOf())
    expect(seen.map(({ url }) => url)).toEqual([
      '/screen/base?id=8453',
      '/screen/ethereum?id=1',
      '/screen/base?id=8453',
    ])
  })

  test('is told 0 for a chain without an id: Solana, and one of a session that is known by its name alone', async () => {
    respond = () => Response.json(GOOD)
    const { screener } = create({ url: `http://127.0.0.1:${server.port}/\${chain}?id=\${chain_id}` })
    const { from } = requestOf()
    for (const chain of [chainOf('solana'), { name: 'gone' }]) {
      expect(await screener.screen({ from, chain })).not.toBeNull()
    }
    expect(seen.map(({ url }) => url)).toEqual(['/solana?id=0', '/gone?id=0'])
  })

  test('reads its secret from a file each time it is asked, and keeps it nowhere', async () => {
    respond = () => Response.json(GOOD)
    const path = join(folder.path, 'key')
    const { errors, screener } = create({
      headers: { 'x-key': `\${secret}` },
      secret: { file: path },
      'cache-seconds': 0,
    })
    expect(await screener.screen(requestOf())).toBeNull()
    expect(seen).toEqual([])
    writeFileSync(path, 'first-secret\n')
    await screener.screen(requestOf())
    writeFileSync(path, 'second-secret\n')
    await screener.screen(requestOf())
    expect(seen.map(({ headers }) => headers.get('x-key'))).toEqual(['first-secret', 'second-secret'])
    writeFileSync(path, 'with\r\nx-injected: header')
    expect(await screener.screen(requestOf())).toBeNull()
    expect(JSON.stringify(errors)).not.toContain('secret-')
  })

  test('has no answer when it is slow, endless, redirecting, failing or gone, and is then left alone', async () => {
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
    expect(seen).toHaveLength(5)
    expect(errors).toHaveLength(5)
    expect(screener.counts()).toMatchObject({ answered: 0, failed: 5, refused: 7, open: true })
  })

  describe('that rejects wallets of one organization', () => {
    const A = { organizationId: 'A', deadlineMs: Number.POSITIVE_INFINITY }
    const B = { ...A, organizationId: 'B' }
    const other = requestOf({ from: `0x${'22'.repeat(20)}` })

    test.each([400, 404, 422, 200])('with %d stays available to others', async (status) => {
      respond = ({ url }) =>
        url.includes(WALLET) ? Response.json({ error: 'unsupported' }, { status }) : Response.json(GOOD)
      const { errors, screener } = create({ url: `http://127.0.0.1:${server.port}/\${address}` })
      for (let count = 0; count < 6; count++) expect(await screener.screen(requestOf(), A)).toBeNull()
      expect(errors).toHaveLength(6)
      expect(await screener.screen(other, B)).toEqual(GOOD)
    })

    test.each([401, 403, 429, 500, 503])('with %d, which concerns every request, is left alone', async (status) => {
      respond = () => new Response(null, { status })
      const { screener } = create()
      for (let count = 0; count < 6; count++) expect(await screener.screen(requestOf(), A)).toBeNull()
      expect([seen.length, screener.counts().open]).toEqual([5, true])
    })
  })

  test('at a private address is not asked', async () => {
    const { errors, screener } = create({ url: 'https://localhost/', reach: 'public' })
    expect(await screener.screen(requestOf())).toBeNull()
    expect(errors).toMatchObject([{ detail: 'resolves to an address that is not allowed' }])
  })
})

describe('a screener’s answer', () => {
  const read = (document: unknown, answer: Readonly<Record<string, unknown>>): ScreenerFacts | string => {
    const text = typeof document === 'string' ? document : JSON.stringify(document)
    try {
      return readScreenerAnswer(text, settingsOf({ answer }), WALLET)
    } catch (error) {
      expect(error).toBeInstanceOf(ScreenerAnswerError)
      return (error as ScreenerAnswerError).detail
    }
  }

  test('is found where the configuration says', () => {
    const answer = { flagged: '/a~1b/0/c~0d', score: '/', categories: '/list' }
    expect(read('{ "a/b": [{ "c~d": true }], "": -0, "list": [] }', answer)).toEqual({
      flagged: true,
      score: 0,
      categories: [],
    })
    expect(read('true', { flagged: '' })).toMatchObject({ flagged: true })
  })

  test('may leave out only what is said to be optional', () => {
    expect(read({}, { flagged: '/f' })).toBe('the response has no flag')
    expect(read({ s: null }, { score: '/s' })).toBe('the response has no score')
    expect(read({}, { flagged: { at: '/f', optional: true }, score: { at: '/s', optional: true } })).toEqual({
      flagged: null,
      score: null,
      categories: null,
    })
  })

  test('that is of another type, or about another wallet, is none', () => {
    expect(read('not json', { flagged: '/f' })).toBe('the response is not JSON')
    expect(read({ f: 'true' }, { flagged: '/f' })).toBe('the flag is neither true nor false')
    expect(read({ f: {} }, { flagged: { at: '/f', equals: 'x' } })).toBe('the flag is a list or an object')
    expect(read({ f: 1 }, { flagged: { at: '/f', equals: '1' } })).toMatchObject({ flagged: false })
    for (const s of ['12', 1e300, 0.93, 0.05, 12.5]) {
      expect(read({ s }, { score: '/s' })).toStartWith('the score is not a whole number: to scale fractions, set times')
    }
    expect(read({ s: 1e300 }, { score: { at: '/s', times: 100 } })).toStartWith('the score is not a whole number')
    expect(read({ s: 0.57 }, { score: { at: '/s', times: 100 } })).toMatchObject({ score: 57 })
    expect(read({ c: 'a,b' }, { categories: '/c' })).toBe(
      'the categories must be at most 64 strings of at most 64 characters',
    )
    expect(read({ c: [1] }, { categories: '/c' })).toBe(
      'the categories must be at most 64 strings of at most 64 characters',
    )
    expect(read({ c: new Array(65).fill('a') }, { categories: '/c' })).toStartWith('the categories must be')
    expect(read({ c: ['a'.repeat(65)] }, { categories: '/c' })).toStartWith('the categories must be')
    const echoed = { flagged: '/f', address: '/w' }
    expect(read({ f: false, w: `0x${'b2'.repeat(20)}` }, echoed)).toBe('the response is for another address')
    expect(read({ f: false }, echoed)).toBe('the response is for another address')
    expect(read({ f: false, w: WALLET }, echoed)).toMatchObject({ flagged: false })
  })

  test('can’t reach into prototypes', () => {
    expect(read({}, { flagged: { at: '/constructor/name', equals: 'Object' } })).toBe('the response has no flag')
    expect(read('{"__proto__":{"flagged":true}}', { flagged: '/flagged' })).toBe('the response has no flag')
  })
})
