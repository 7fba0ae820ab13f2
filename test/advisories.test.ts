// The check of dependencies against advisories: fails for what is published and grave, and for nothing else.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '..')
let answer: Response | null = null
let asked: string[] = []
const registry = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: async (request) => {
    const body = Buffer.from(await request.arrayBuffer())
    const text = request.headers.get('content-encoding') === 'gzip' ? Bun.gunzipSync(body) : body
    asked = Object.keys(JSON.parse(new TextDecoder().decode(text)) as object)
    return answer ?? new Response('no', { status: 405 })
  },
})
beforeAll(() => {
  asked = []
})
afterAll(() => registry.stop(true))

const check = async () => {
  const child = Bun.spawn([join(ROOT, '.ci', 'advisories')], {
    env: { ...process.env, BUN: process.execPath, NPM_CONFIG_REGISTRY: registry.url.href },
    stdout: 'pipe',
  })
  return { said: await new Response(child.stdout).text(), code: await child.exited }
}

test('passes and says so where the registry can not be asked', async () => {
  answer = null
  const { code, said } = await check()
  expect([code, said.split('\n')[0]]).toEqual([0, 'advisories could not be asked for:'])
})

test('passes where none is known, having asked for what production runs', async () => {
  answer = Response.json({})
  expect(await check()).toEqual({ code: 0, said: 'no advisory of high or critical severity\n' })
  expect(asked).toEqual(expect.arrayContaining(['elysia', 'viem', '@noble/curves']))
})

test('fails for a grave one', async () => {
  const advisory = { id: 1, url: 'https://github.com/advisories/GHSA-test', title: 'Canary', vulnerable_versions: '*' }
  answer = Response.json({ elysia: [{ ...advisory, severity: 'high', cwe: [], cvss: { score: 8 } }] })
  const { code, said } = await check()
  expect(code).toBe(1)
  expect(said).toContain('GHSA-test')
  answer = Response.json({ elysia: [{ ...advisory, severity: 'low', cwe: [], cvss: { score: 2 } }] })
  expect((await check()).code).toBe(0)
})
