// What the dashboard's own server answers for its pages and files: headers, sizes, and nothing beside them.
import { beforeAll, describe, expect, test } from 'bun:test'
import { buildDashboardAssets, createDashboardPages } from '../../src/dashboard/pages.ts'
import type { PageAssets } from '../../src/pages/page-assets.ts'

let assets: PageAssets
beforeAll(async () => {
  assets = await buildDashboardAssets([], true)
})

const ask = async (path: string): Promise<Response | null> =>
  await createDashboardPages(assets)(new Request(`http://localhost${path}`), path)

/** Files that the page itself names: what has to be there before anything is seen. */
const firstFiles = (): readonly string[] =>
  [...assets.page('n').matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map((match) => match[1] ?? '')

describe('every page', () => {
  test('runs only what its own response names, and is framed by nobody', async () => {
    for (const path of ['/', '/sign-in', '/welcome', '/o/demo/keys', '/o/demo/projects/project_1', '/anything']) {
      const response = await ask(path)
      expect(response?.status).toBe(200)
      const policy = response?.headers.get('content-security-policy') ?? ''
      const nonce = /'nonce-([^']+)'/.exec(policy)?.[1]
      expect(nonce).toMatch(/^[A-Za-z0-9+/]{24}$/)
      const html = (await response?.text()) ?? ''
      expect(html.match(/<script/g)?.length).toBe(
        html.match(new RegExp(`<script nonce="${nonce?.replaceAll('+', '\\+')}"`, 'g'))?.length ?? 0,
      )
      for (const rule of [
        "default-src 'none'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
      ])
        expect(policy).toContain(rule)
      expect(policy).not.toContain('unsafe')
      expect(response?.headers.get('x-frame-options')).toBe('DENY')
      expect(response?.headers.get('cache-control')).toBe('no-store')
    }
  })

  test('has a nonce of its own', async () => {
    const [one, other] = await Promise.all([ask('/'), ask('/')])
    expect(one?.headers.get('content-security-policy')).not.toBe(other?.headers.get('content-security-policy'))
  })

  test('is none for files that browsers guess at, and for unknown assets', async () => {
    for (const path of ['/favicon.ico', '/wp-login.php', '/assets/none.js', '/.env', '/o/demo/x.map']) {
      expect(await ask(path)).toBeNull()
    }
  })
})

describe('the files', () => {
  test('that come first are few and small', async () => {
    const first = firstFiles()
    let bytes = 0
    for (const path of first) bytes += (await assets.find(path)?.encoded('br'))?.length ?? 0
    expect(first.length).toBeLessThanOrEqual(6)
    // Signed out or in, before any page of it: Preact, the shell, the styles.
    expect(bytes).toBeLessThan(40_000)
  })

  test('that come later are few, and large libraries are apart', async () => {
    const scripts = assets.all.filter(({ type }) => type.startsWith('text/javascript'))
    expect(scripts.length).toBeLessThanOrEqual(14)
    const late = scripts.find(({ path }) => path.includes('/late-pages-'))
    expect((await late?.encoded('br'))?.length).toBeLessThan(80_000)
  })

  test('name no other host', async () => {
    // Neither a namespace nor an example (RFC 2606), which fields show, is a host that anything is loaded from.
    const NAMES = /https?:\/\/(?!www\.w3\.org\/|(?:[a-z]+\.)?example\.com)[a-z0-9.-]+\.[a-z]{2,}/g
    for (const asset of assets.all) {
      const text = new TextDecoder().decode(await asset.encoded('identity'))
      expect({ path: asset.path, hosts: text.match(NAMES) ?? [] }).toEqual({ path: asset.path, hosts: [] })
    }
  })
})
