// The core alone: a service with every module left out attests, verifies people, and has nothing of a module.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { MODULES } from '../../src/modules.ts'
import { type Caller, createCaller, walletOf } from '../conformance/identity-caller.ts'
import { ask } from './calls.ts'
import { type RunningService, startService } from './start-service.ts'

const TIMEOUT_MS = 60_000

let service: RunningService
let caller: Caller
beforeAll(async () => {
  service = await startService({ arguments: ['--without', MODULES.map(({ name }) => name).join(',')] })
  caller = createCaller(service, service.quickstart['IDENTITY_TEST_API_KEY'] ?? '')
}, TIMEOUT_MS)
afterAll(() => service.stop())

describe('without any module', () => {
  test('an attestation is signed', async () => {
    expect(await ask(service)).toMatchObject({ is_compliant: true })
  })

  test('a session verifies its wallet', async () => {
    const walletAddress = walletOf('alone')
    await caller.registered({ body: { walletAddress }, headers: { 'countersign-sandbox-outcome': 'completed' } })
    expect(await caller.verified({ address: walletAddress })).toMatchObject({ verified: true })
  })

  test('no metric of a module is exposed', async () => {
    const text = await (await fetch(`${service.url}/metrics`)).text()
    expect(text).toContain('countersign_build_info')
    const names = MODULES.flatMap(({ metrics = {} }) => Object.values(metrics).map(({ name }) => name))
    expect(names.length).toBeGreaterThan(0)
    expect(names.filter((name) => text.includes(name))).toEqual([])
  })
})
