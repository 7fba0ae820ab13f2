// Commands that are not derived from operations: output, refusals and stored changes.
import { afterAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { runCountersign } from '../../src/cli/countersign.ts'
import { newSessionId } from '../../src/domain/identifier.ts'
import { recordOutput } from './recorded-output.ts'
import { openCommandWorld } from './world.ts'

const world = await openCommandWorld()
afterAll(() => world.remove())
const { run, json } = world
const codeOf = async (...words: readonly string[]): Promise<number> => (await run(...words)).code
expect(await codeOf('org', 'create', 'demo')).toBe(0)

const session = await world.withStore(async (store) => {
  const organization = await store.organizations.find('demo')
  const registered = await store.sessions.register({
    organizationId: organization?.id ?? '',
    environment: 'live',
    checkType: 'kyc',
    sessionId: newSessionId(),
    tokenHash: crypto.getRandomValues(new Uint8Array(32)),
    walletAddress: null,
    originUrl: null,
    provider: 'manual',
    actor: 'key:test',
  })
  return registered.session.id
})

test('session decide requests changes, completes with an override, and revokes a completion only with --revoke', async () => {
  const decide = (...words: readonly string[]) => run('session', 'decide', session, ...words)
  const refusal = (code: number, text: string) => ({ code, stderr: expect.stringContaining(text) })
  expect((await decide('retry', '--comment', 'Again', '--note', 'Blurry')).stdout).toMatch(/Again +Blurry/)
  expect((await decide('completed')).code).toBe(1)
  expect((await decide('retry', '--override')).code).toBe(2)
  const completed = JSON.parse((await decide('completed', '--override', '--by', 'bea', '--json')).stdout)
  expect(completed).toMatchObject({ id: session, status: 'completed' })
  expect(completed.events.at(-1).actor).toContain('bea')
  expect(await decide('rejected')).toMatchObject(refusal(1, 'use --revoke to revoke'))
  expect((await decide('retry', '--revoke', '--comment', 'Sorry')).code).toBe(0)

  const notCompleted = refusal(1, 'the session is retry, not completed')
  expect(await decide('rejected', '--revoke', '--comment', 'Altered')).toMatchObject(notCompleted)
  expect(await decide('retry', '--revoke', '--override')).toMatchObject(refusal(2, 'omit it with --revoke'))
  expect((await decide('rejected')).code).toBe(2)
  expect((await decide('rejected', '--comment', 'x'.repeat(1001))).stderr).toStartWith('--comment must have at most')
  expect((await decide('sideways')).stderr).toStartWith('DECISION must be one of completed, rejected, retry')
  expect(await codeOf('session', 'decide', newSessionId(), 'rejected')).toBe(1)
  expect(await json('session', 'show', session)).toMatchObject({ status: 'retry' })
})

describe('evidence', () => {
  test('list-reads accepts a user with an invalid name, and show does not', async () => {
    const { output, printed } = recordOutput()
    const place = { output, environment: world.environment, clock: world.clock, user: 'bad\u0000name' }
    const code = await runCountersign(['evidence', 'list-reads', session, '--json'], place)
    expect([code, printed.stderr]).toEqual([0, ''])
    expect(await runCountersign(['evidence', 'show', session], place)).toBe(2)
  })

  test('is shown and erased', async () => {
    expect(await json('evidence', 'show', session, '--by', 'ada')).toMatchObject({ fields: {}, documents: [] })
    expect((await run('evidence', 'show', session)).stdout).toContain('MISSING')
    expect(await json('evidence', 'list-reads', session)).toEqual({ data: [] })
    expect(await json('evidence', 'erase', session)).toEqual({ erased: 0 })
  })

  test('of an unknown session or document is refused', async () => {
    for (const verb of ['show', 'list-reads', 'erase']) expect(await codeOf('evidence', verb, newSessionId())).toBe(1)
    expect(await codeOf('evidence', 'save', session, newSessionId(), '--out', join(world.root, 'out'))).toBe(1)
  })
})

describe('attester', () => {
  test('import creates a keystore once, and does not print the key', async () => {
    const hex = '11'.repeat(32)
    const file = world.file('key.hex', hex)
    const { code, stdout, stderr } = await run('attester', 'import', file)
    expect([code, stdout]).toEqual([0, expect.stringContaining('0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A')])
    expect(stdout + stderr).not.toContain(hex)
    const keystores = readdirSync(join(world.root, 'keystores'))
    for (const path of [file, world.file('no.key', 'no key'), '/nowhere']) {
      expect(await codeOf('attester', 'import', path)).toBe(1)
    }
    expect(readdirSync(join(world.root, 'keystores'))).toEqual(keystores)
  })

  test('retire accepts an address in lower case', async () => {
    const { address } = await json('attester', 'create', '--kind', 'secp256k1')
    expect((await json('attester', 'retire', address.toLowerCase())).status).toBe('retiring')
    expect(await codeOf('attester', 'retire', 'nobody')).toBe(1)
  })
})

test('binding delete accepts an address, with a chain, a project or an id if several bindings match', async () => {
  const file = world.file('policy.yaml', 'name: All\nrules: [{ id: all, allow: "true" }]\n')
  const { policy } = await json('policy', 'apply', file)
  const createProject = async (name: string): Promise<string> =>
    (await json('project', 'create', '--name', name, '--policy', policy)).verification_hash
  const [shop, bank] = [await createProject('Shop'), await createProject('Bank')]
  const address = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
  for (const [project, chain] of [
    [shop, 'base'],
    [shop, 'ethereum'],
    [shop, 'megaeth'],
    [bank, 'megaeth-testnet'],
  ] as const) {
    const words = ['--project', project, '--chain', chain, '--address', address]
    expect(await codeOf('binding', 'create', ...words)).toBe(0)
  }
  expect(await codeOf('binding', 'delete', address, '--project', bank, '--chain', 'megaeth')).toBe(1)
  expect(await codeOf('binding', 'delete', address, '--project', bank)).toBe(0)
  expect(await codeOf('project', 'unbind', shop, '--chain', 'megaeth', '--address', address)).toBe(0)
  expect((await run('binding', 'delete', address.toLowerCase())).stderr).toMatch(/^2 match; .*binding_.*binding_/)
  const { data } = await json('binding', 'list', '--project', shop, '--chain', 'base')
  expect(await codeOf('binding', 'delete', data[0].id)).toBe(0)
  expect(await codeOf('binding', 'delete', address)).toBe(0)
  expect(await codeOf('binding', 'delete', address)).toBe(1)
})
