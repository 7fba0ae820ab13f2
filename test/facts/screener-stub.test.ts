// The screener stub, with its example configuration.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { runScreenerStub, type ScreenerStub, startScreenerStub } from '../../src/cli/screener-stub.ts'
import { loadConfig } from '../../src/config/config.ts'
import { createScreener } from '../../src/facts/screener.ts'
import { parseScreenerSettings } from '../../src/facts/screener-settings.ts'
import { exchange } from '../server/exchange.ts'
import { createManualClock } from '../server/manual-clock.ts'
import { newFolder } from '../support/folder.ts'
import { requestOf, WALLET } from './fixtures.ts'

const EXAMPLE = join(import.meta.dir, '..', '..', 'docs', 'examples', 'screener.yaml')
const DEAD = '0x000000000000000000000000000000000000dead'

let stub: ScreenerStub
beforeAll(() => {
  stub = startScreenerStub({ hostname: '127.0.0.1', port: 0 })
})
afterAll(() => stub.stop())

describe('the screener stub', () => {
  test('responds in the format of its example configuration', async () => {
    const { screeners } = parse(readFileSync(EXAMPLE, 'utf8')) as { screeners: { stub: { url: string } } }
    const here = { ...screeners.stub, url: screeners.stub.url.replace('http://127.0.0.1:8099', stub.url) }
    const settings = parseScreenerSettings({ stub: here }).get('stub')
    const errors: unknown[] = []
    const onError = (error: unknown) => errors.push(error)
    const screener = createScreener(settings!, { clock: createManualClock(), environment: {}, onError })
    expect(await screener.screen(requestOf())).toEqual({ flagged: false, score: 0, categories: [] })
    const flagged = { flagged: true, score: 100, categories: ['stub'] }
    expect(await screener.screen(requestOf({ from: DEAD }))).toEqual(flagged)
    expect(errors).toEqual([])
  })

  test('identifies itself in every response', async () => {
    for (const path of [`/screen/${WALLET}`, '/screen/nonsense', '/', '/screen/%zz']) {
      const response = await fetch(`${stub.url}${path}`)
      expect(response.headers.get('x-stub')).toBe('true')
      expect(await response.json()).toMatchObject({ stub: true, notice: expect.stringContaining('screens nothing') })
    }
    const posted = await fetch(`${stub.url}/screen`, { method: 'POST', body: 'not json' })
    expect([posted.status, (await posted.json()) as object]).toMatchObject([400, { stub: true }])
  })

  test('closes a connection that pipelines requests', async () => {
    const head = `GET /screen/${WALLET} HTTP/1.1\r\nHost: x\r\n`
    const pipelined = `${head}\r\n${head}Connection: close\r\n\r\n`
    expect(await exchange(Number(new URL(stub.url).port), pipelined)).toBe('')
  })

  test('runs until it is stopped, and refuses invalid arguments', async () => {
    const printed: string[] = []
    const output = { stdout: (text: string) => printed.push(text), stderr: (text: string) => printed.push(text) }
    const stopped = Promise.withResolvers<void>()
    const running = runScreenerStub(['--listen', '127.0.0.1:0'], { output, stopped: () => stopped.promise })
    await Promise.resolve()
    const url = /listening on (\S+)/.exec(printed.join(''))?.[1] ?? ''
    expect((await fetch(`${url}/screen/${DEAD}`)).status).toBe(200)
    stopped.resolve()
    expect(await running).toBe(0)
    for (const call of [['x'], ['--listen', 'nonsense'], ['--unknown']]) {
      expect(await runScreenerStub(call, { output, stopped: () => stopped.promise })).toBe(2)
    }
  })
})

test('the config file accepts screeners and reports a mistake in one line', () => {
  const environment = { COUNTERSIGN_GEOIP_FILE: 'city.mmdb' }
  const config = loadConfig({ arguments: ['--config', EXAMPLE], environment })
  expect([...config.screeners.keys()]).toEqual(['stub'])
  expect(config.geoipFile).toBe(join(process.cwd(), 'city.mmdb'))
  expect(loadConfig({ arguments: [], environment: {} })).toMatchObject({ geoipFile: '' })
  const bad = join(newFolder(), 'config.yaml')
  writeFileSync(bad, 'screeners: { risk: { url: "http://screener.example/", answer: { flagged: /a } } }')
  expect(() => loadConfig({ arguments: ['--config', bad], environment: {} })).toThrow(
    'config file, screeners: risk.url must be an https URL',
  )
})
