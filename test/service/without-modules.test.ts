// The core: a service without modules attests and verifies people.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { MODULES } from '../../src/modules.ts'
import { type Caller, createCaller, walletOf } from '../conformance/identity-caller.ts'
import { attestOnce } from './calls.ts'
import { type RunningService, runCommand, startService } from './start-service.ts'

const TIMEOUT_MS = 60_000
const WITHOUT = MODULES.map(({ name }) => name).join(',')

let service: RunningService
let caller: Caller
beforeAll(async () => {
  service = await startService({ arguments: WITHOUT === '' ? [] : ['--without', WITHOUT] })
  caller = createCaller(service, service.quickstart['IDENTITY_TEST_API_KEY'] ?? '')
}, TIMEOUT_MS)
afterAll(() => service.stop())

/** Tests of refusals; a tree without modules has none. */
const testRefusal = test.skipIf(MODULES.length === 0)

describe('without modules', () => {
  test('an attestation is signed', async () => {
    expect(await attestOnce(service)).toMatchObject({ is_compliant: true })
  })

  test('a session verifies its wallet', async () => {
    const walletAddress = walletOf('alone')
    await caller.registered({ body: { walletAddress }, headers: { 'countersign-sandbox-outcome': 'completed' } })
    expect(await caller.verified({ address: walletAddress })).toMatchObject({ verified: true })
  })

  test('decisions have no proof, and the hash chains of the log verify', async () => {
    const { attestation } = await attestOnce(service)
    const headers = { 'x-api-key': service.quickstart['ATTESTATION_API_KEY'] ?? '' }
    const proof = await fetch(`${service.url}/v2/attestations/${attestation.uuid}/proof`, { headers })
    expect(proof.status).toBe(404)
    expect((await fetch(`${service.url}/checkpoint`)).status).toBe(404)
    const verify = (...more: string[]) => runCommand(service.dataDirectory, 'decisions', 'verify', ...more)
    expect(await verify()).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('--chains') })
    const verified = await verify('--chains')
    expect(verified).toMatchObject({ code: 0, stdout: expect.not.stringContaining('tree') })
  })

  test('events of verification services get 404', async () => {
    const event = await fetch(`${service.url}/api/v1/provider/x/events`, { method: 'POST', body: '{}' })
    expect(event.status).toBe(404)
    expect(await event.json()).toMatchObject({ code: 'NOT_FOUND' })
  })

  testRefusal('operations of modules get 404, which names the module to callers with credentials', async () => {
    const request = async (method: string, path: string, headers: Record<string, string> = {}) =>
      fetch(`${service.quickstart['DASHBOARD_URL']}/admin/v1${path}`, { method, headers })
    // An operation that is served returns 401 to callers without credentials.
    expect((await request('GET', '/organizations')).status).toBe(401)
    const authorization = `Bearer ${service.quickstart['ADMIN_API_KEY']}`
    const answers = await Promise.all(
      MODULES.map(async ({ name, operations }) =>
        ((await operations?.())?.routes ?? []).map(async ({ method, path, operationId }) => {
          const named = path.replaceAll(/\{\w+\}/g, 'x')
          const open = await request(method, named)
          const known = await request(method, named, { authorization })
          return {
            operationId,
            isMissing: open.status === 404 || open.status === 405,
            isNamed: (await open.text()).includes(`module ${name}`),
            status: known.status,
            isExplained: (await known.text()).includes(`module ${name}`),
          }
        }),
      ),
    )
    const served = await Promise.all(answers.flat())
    expect(served.length).toBeGreaterThan(0)
    const leftOut = { isMissing: true, isNamed: false, status: 404, isExplained: true }
    expect(served).toEqual(served.map(({ operationId }) => ({ operationId, ...leftOut })))
  })

  testRefusal('commands of modules fail, and the error names the module', async () => {
    for (const [module, ...words] of [
      ['documents', 'minimum-age', 'update', '--years', '21'],
      ['screening', 'screening', 'update', '--threshold', '90'],
      ['screening', 'screening-list', 'import', 'own', '/dev/null', '--format', 'csv'],
    ] as const) {
      const { code, stderr } = await runCommand(service.dataDirectory, ...words)
      expect([code, stderr]).toEqual([1, expect.stringContaining(`the module ${module} is disabled:`)])
    }
  })

  testRefusal('help does not list the commands of modules', async () => {
    const { stdout } = await runCommand(service.dataDirectory, 'help')
    expect(stdout).toContain('  policy ')
    expect(stdout).not.toMatch(/^ {2}(?:screening|minimum-age|session-policy|witness)/m)
    const noun = await runCommand(service.dataDirectory, 'screening-list', '--help')
    expect([noun.code, noun.stderr]).toEqual([1, expect.stringContaining('the module screening is disabled:')])
  })

  testRefusal('no metric of a module is exposed', async () => {
    const text = await (await fetch(`${service.url}/metrics`)).text()
    expect(text).toContain('countersign_build_info')
    const names = MODULES.flatMap(({ metrics = {} }) => Object.values(metrics).map(({ name }) => name))
    expect(names.length).toBeGreaterThan(0)
    expect(names.filter((name) => text.includes(name))).toEqual([])
  })
})
