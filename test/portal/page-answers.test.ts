// Files and headers of the verification page (threat model rows 2, 17 and 23), and their size.
import { afterAll, describe, expect, test } from 'bun:test'
import { brotliDecompressSync } from 'node:zlib'
import { type Asset, chooseEncoding } from '../../src/pages/page-assets.ts'
import { buildPortalAssets } from '../../src/portal/pages.ts'
import { words } from '../support/words.ts'
import { startPortalHost } from './support/portal-host.ts'

/** Size of the page, its styles and its first scripts; first-load.test.ts also counts responses and headers. */
const FIRST_FILES_MAX_BYTES = 34_000

const host = await startPortalHost()
afterAll(() => host.stop())

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${host.url}${path}`, { headers })

describe('every page', () => {
  test('runs only its own scripts, cannot be framed, and sends no referrer', async () => {
    for (const path of ['/', '/s/00000000-0000-7000-8000-000000000000', '/nothing/here', '/v/x']) {
      const response = await get(path)
      const policy = response.headers.get('content-security-policy') ?? ''
      const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? ''
      expect(nonce).toMatch(/^[A-Za-z0-9+/]{24}$/)
      for (const part of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"]) {
        expect(policy).toContain(part)
      }
      expect(policy).not.toContain('unsafe')
      expect(policy).not.toMatch(/https?:/)
      const html = await response.text()
      for (const [, attributes = ''] of html.matchAll(/<script ([^>]*)>/g)) {
        expect(attributes).toContain(`nonce="${nonce}"`)
        expect(attributes).toContain('src="/assets/')
      }
      expect(html).not.toMatch(/<style|style="|\son[a-z]+="|javascript:/)
      expect(html).not.toMatch(/(?:src|href)="https?:/)
      expect(response.headers.get('referrer-policy')).toBe('no-referrer')
      expect(response.headers.get('x-frame-options')).toBe('DENY')
      expect(response.headers.get('cache-control')).toBe('no-store')
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
      expect(response.headers.get('permissions-policy')).toContain('camera=(self)')
      expect(response.headers.get('x-robots-tag')).toContain('noindex')
    }
  })

  test('has its own nonce', async () => {
    const [one, two] = await Promise.all([get('/'), get('/')])
    expect(one.headers.get('content-security-policy')).not.toBe(two.headers.get('content-security-policy'))
  })

  test('returns 404 for an unknown path', async () => {
    expect((await get('/')).status).toBe(404)
    expect((await get('/admin')).status).toBe(404)
    expect((await get('/s/00000000-0000-7000-8000-000000000000')).status).toBe(200)
    expect(await (await get('/robots.txt')).text()).toContain('Disallow: /')
  })
})

describe('the API', () => {
  test('returns a problem for an unknown path, and lists allowed methods', async () => {
    const unknown = await get('/api/nothing')
    expect(unknown.status).toBe(404)
    expect(unknown.headers.get('content-type')).toBe('application/problem+json')
    const method = await fetch(`${host.url}/api/enter`)
    expect([method.status, method.headers.get('allow')]).toEqual([405, 'POST'])
    expect((await fetch(`${host.url}/assets/x.js`)).status).toBe(404)
    expect((await fetch(`${host.url}/`, { method: 'POST' })).status).toBe(405)
  })

  test('answers a valid request after malformed requests', async () => {
    const port = Number(new URL(host.url).port)
    const answers: string[] = []
    for (const text of [
      'GET / HTTP/1.1\r\n\r\n',
      'POST /api/enter HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'POST /api/enter HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
      'nonsense\r\n\r\n',
    ]) {
      const done = Promise.withResolvers<string>()
      const socket = await Bun.connect({
        hostname: '127.0.0.1',
        port,
        socket: {
          data: (_, data) => done.resolve(data.toString()),
          close: () => done.resolve(''),
          error: () => done.resolve(''),
        },
      })
      socket.write(text)
      answers.push(await done.promise)
      socket.end()
    }
    for (const answer of answers) expect(answer).toMatch(/^(HTTP\/1\.1 4|$)/)
    expect((await get('/robots.txt')).status).toBe(200)
  })
})

describe('files', () => {
  const built = buildPortalAssets('http://127.0.0.1:8081')
  const sizeOf = async (asset: Asset | undefined): Promise<number> => (await asset?.encoded('br'))?.length ?? 0

  test('of the first screen are few and small', async () => {
    const assets = await built
    for (const words of ['english', 'german']) {
      const html = assets.page('x', words)
      const named = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path)
      expect(named.some((path) => path.startsWith(`/assets/${words}-`))).toBe(true)
      expect(named.length).toBeLessThanOrEqual(5)
      let bytes = Buffer.byteLength(html)
      for (const path of named) bytes += await sizeOf(assets.find(path))
      expect(bytes).toBeGreaterThan(10_000)
      expect(bytes).toBeLessThan(FIRST_FILES_MAX_BYTES)
    }
  })

  test('are named by their content, cached forever, and compressed as the browser accepts', async () => {
    const html = await (await get('/')).text()
    const path = /src="(\/assets\/[^"]+\.js)"/.exec(html)?.[1] ?? ''
    expect(path).toMatch(/-[a-z0-9]{8}\.js$/)
    const plain = await get(path, { 'accept-encoding': 'identity' })
    expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(plain.headers.get('content-type')).toContain('javascript')
    const script = await plain.text()
    const brotli = await fetch(`${host.url}${path}`, { headers: { 'accept-encoding': 'br' }, decompress: false })
    expect(brotli.headers.get('content-encoding')).toBe('br')
    expect(brotliDecompressSync(await brotli.bytes()).toString()).toBe(script)
    expect(chooseEncoding('gzip, deflate')).toBe('gzip')
    expect(chooseEncoding(null)).toBe('identity')
  })

  test('name no other hosts than those of wallets', async () => {
    const assets = await built
    const hosts = new Set<string>()
    for (const asset of assets.all) {
      const text = new TextDecoder().decode(await asset.encoded('identity'))
      for (const [, found = ''] of text.matchAll(/https?:\/\/([a-z0-9.-]+)/g)) hosts.add(found)
    }
    expect([...hosts].sort()).toEqual(words`
      go.cb-w.com link.metamask.io link.trustwallet.com phantom.app solflare.com web3.okx.com www.w3.org
    `)
  })

  test('of the language of the browser are preloaded with the nonce', async () => {
    for (const [language, words] of [
      ['de-AT,de;q=0.9', 'german'],
      ['fr', 'english'],
    ] as const) {
      const response = await get('/', { 'accept-language': language })
      const nonce = /'nonce-([^']+)'/.exec(response.headers.get('content-security-policy') ?? '')?.[1] ?? ''
      const preloads = (await response.text()).match(/<link rel="modulepreload"[^>]+>/g) ?? []
      expect(preloads.filter((link) => link.includes(`/assets/${words}-`) && link.includes(nonce)).length).toBe(1)
      expect(preloads.join().match(/english|german/g)).toEqual([words])
    }
  })

  test('are found with and without the path prefix of the portal URL', async () => {
    const inside = await startPortalHost({ portalUrl: 'https://example.com/ver%20ify' })
    try {
      const { link, sessionId } = await inside.register()
      const token = link.slice(link.lastIndexOf('/') + 1)
      const headers = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
      const response = await fetch(`${inside.url}/ver%20ify/v/${token}`, { redirect: 'manual', headers })
      expect(response.headers.get('location')).toBe(`https://example.com/ver%20ify/s/${sessionId}`)
      const cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? ''
      for (const base of ['', '/ver%20ify']) {
        const view = await fetch(`${inside.url}${base}/api/sessions/${sessionId}`, { headers: { cookie } })
        expect([base, view.status]).toEqual([base, 200])
        const encoded = sessionId.replace('-', '%2D')
        const other = await fetch(`${inside.url}${base}/api/sessions/${encoded}`, { headers: { cookie } })
        expect([base, other.status]).toEqual([base, 404])
      }
    } finally {
      await inside.stop()
    }
  })

  test('have the path prefix of the portal URL', async () => {
    const assets = await buildPortalAssets('https://example.com/verify')
    expect(assets.page('x')).toContain('src="/verify/assets/')
    expect(assets.page('x', 'german')).toContain('href="/verify/assets/german-')
    expect(assets.page('x')).toContain('content="https://example.com/verify"')
  })
})
