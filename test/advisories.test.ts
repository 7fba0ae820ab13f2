// The check of dependencies for advisories of high or critical severity.
import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '..')
let answer: Response | null = null
let requested: string[] = []
const registry = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: async (request) => {
    const body = Buffer.from(await request.arrayBuffer())
    const text = request.headers.get('content-encoding') === 'gzip' ? Bun.gunzipSync(body) : body
    requested = Object.keys(JSON.parse(new TextDecoder().decode(text)) as object)
    return answer ?? new Response('no', { status: 405 })
  },
})
afterAll(() => registry.stop(true))

const check = async () => {
  const child = Bun.spawn([join(ROOT, '.ci', 'advisories')], {
    env: { ...process.env, BUN: process.execPath, NPM_CONFIG_REGISTRY: registry.url.href },
    stdout: 'pipe',
  })
  return { stdout: await new Response(child.stdout).text(), code: await child.exited }
}

test('passes with a message if the registry cannot be queried', async () => {
  answer = null
  const { code, stdout } = await check()
  expect([code, stdout.split('\n')[0]]).toEqual([0, 'advisories could not be asked for:'])
})

test('passes without an advisory for the dependencies of production', async () => {
  answer = Response.json({})
  expect(await check()).toEqual({ code: 0, stdout: 'no advisory of high or critical severity\n' })
  expect(requested).toEqual(expect.arrayContaining(['elysia', 'viem', '@noble/curves']))
})

test('fails for an advisory of high severity, but not of low severity', async () => {
  const advisory = { id: 1, url: 'https://github.com/advisories/GHSA-test', title: 'Canary', vulnerable_versions: '*' }
  answer = Response.json({ elysia: [{ ...advisory, severity: 'high', cwe: [], cvss: { score: 8 } }] })
  const { code, stdout } = await check()
  expect(code).toBe(1)
  expect(stdout).toContain('GHSA-test')
  answer = Response.json({ elysia: [{ ...advisory, severity: 'low', cwe: [], cvss: { score: 2 } }] })
  expect((await check()).code).toBe(0)
})
