// Responses of the dashboard's server for its pages and files: headers and sizes.
import { beforeAll, describe, expect, test } from 'bun:test'
import { buildDashboardAssets, createDashboardPages } from '../../src/dashboard/pages.ts'
import type { PageAssets } from '../../src/pages/page-assets.ts'

let assets: PageAssets
beforeAll(async () => {
  assets = await buildDashboardAssets([], true)
})

const request = async (path: string): Promise<Response | null> =>
  await createDashboardPages(assets)(new Request(`http://localhost${path}`), path)

describe('every page', () => {
  test('runs only its own scripts, and cannot be framed', async () => {
    for (const path of ['/', '/sign-in', '/welcome', '/o/demo/keys', '/o/demo/projects/project_1', '/anything']) {
      const response = await request(path)
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

  test('has its own nonce', async () => {
    const [one, other] = await Promise.all([request('/'), request('/')])
    expect(one?.headers.get('content-security-policy')).not.toBe(other?.headers.get('content-security-policy'))
  })

  test('does not exist at paths of files and unknown assets', async () => {
    for (const path of ['/favicon.ico', '/wp-login.php', '/assets/none.js', '/.env', '/o/demo/x.map']) {
      expect(await request(path)).toBeNull()
    }
  })
})

describe('files', () => {
  test('of the first screen are few and small', async () => {
    const first = [...assets.page('n').matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map((match) => match[1] ?? '')
    let bytes = 0
    for (const path of first) bytes += (await assets.find(path)?.encoded('br'))?.length ?? 0
    expect(first.length).toBeLessThanOrEqual(6)
    // Preact, the shell and the styles.
    expect(bytes).toBeLessThan(40_000)
  })

  test('of later screens are few, and large libraries are separate', async () => {
    const scripts = assets.all.filter(({ type }) => type.startsWith('text/javascript'))
    expect(scripts.length).toBeLessThanOrEqual(14)
    const late = scripts.find(({ path }) => path.includes('/late-pages-'))
    expect((await late?.encoded('br'))?.length).toBeLessThan(80_000)
  })

  test('name no other hosts', async () => {
    // Namespaces and examples (RFC 2606) are not loaded.
    const NAMES = /https?:\/\/(?!www\.w3\.org\/|(?:[a-z]+\.)?example\.com)[a-z0-9.-]+\.[a-z]{2,}/g
    for (const asset of assets.all) {
      const text = new TextDecoder().decode(await asset.encoded('identity'))
      expect({ path: asset.path, hosts: text.match(NAMES) ?? [] }).toEqual({ path: asset.path, hosts: [] })
    }
  })
})
