// The commands that are not derived, over a deployment of their own: what they print, what they refuse, and what stays.
import { afterAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { runCountersign } from '../../src/cli/countersign.ts'
import { newSessionId } from '../../src/domain/identifier.ts'
import { recordOutput } from './recorded-output.ts'
import { openCommandWorld } from './world.ts'

const world = await openCommandWorld()
afterAll(() => world.remove())
expect((await world.run('org', 'create', 'demo')).code).toBe(0)

const json = async (...words: readonly string[]) => JSON.parse((await world.run(...words, '--json')).stdout)
const codeOf = async (...words: readonly string[]): Promise<number> => (await world.run(...words)).code

const session = await world.withStore(async (store) => {
  const organization = await store.organizations.find('demo')
  const made = await store.sessions.register({
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
  return made.session.id
})
const decide = (...words: readonly string[]) => world.run('session', 'decide', session, ...words)

describe('session decide', () => {
  test('sends back, completes with an override, and takes a completion back only with --revoke', async () => {
    expect((await decide('retry', '--comment', 'Again', '--note', 'Blurry')).stdout).toMatch(/Again +Blurry/)
    expect((await decide('completed')).code).toBe(1)
    expect((await decide('retry', '--override')).code).toBe(2)
    const completed = JSON.parse((await decide('completed', '--override', '--by', 'bea', '--json')).stdout)
    expect(completed).toMatchObject({ id: session, status: 'completed' })
    expect(completed.events.at(-1).actor).toContain('bea')
    expect(await decide('rejected')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('use --revoke to revoke'),
    })
    expect((await decide('retry', '--revoke', '--comment', 'Sorry')).code).toBe(0)
  })

  test('with --revoke, refuses a session that is not completed, and an override', async () => {
    expect(await decide('rejected', '--revoke', '--comment', 'Altered')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the session is retry, not completed'),
    })
    expect(await decide('retry', '--revoke', '--override')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('omit it with --revoke'),
    })
    expect(await json('session', 'show', session)).toMatchObject({ status: 'retry' })
  })

  test('refuses a rejection without a comment, and other words', async () => {
    expect((await decide('rejected')).code).toBe(2)
    expect((await decide('rejected', '--comment', 'x'.repeat(1001))).stderr).toStartWith('--comment must have at most')
    expect((await decide('sideways')).stderr).toStartWith('DECISION must be one of completed, rejected, retry')
    expect(await codeOf('session', 'decide', newSessionId(), 'rejected')).toBe(1)
  })
})

describe('evidence', () => {
  test('list-reads needs no author', async () => {
    const { output, printed } = recordOutput()
    const place = { output, environment: world.environment, clock: world.clock, user: 'bad\u0000name' }
    expect([await runCountersign(['evidence', 'list-reads', session, '--json'], place), printed.stderr]).toEqual([
      0,
      '',
    ])
    expect(await runCountersign(['evidence', 'show', session], place)).toBe(2)
  })

  test('is shown, on record for each reader, and erased', async () => {
    expect(await json('evidence', 'show', session, '--by', 'ada')).toMatchObject({ fields: {}, documents: [] })
    expect((await world.run('evidence', 'show', session)).stdout).toContain('MISSING')
    expect(await json('evidence', 'list-reads', session)).toEqual({ data: [] })
    expect(await json('evidence', 'erase', session)).toEqual({ erased: 0 })
  })

  test('of another session, or to a file that exists, is refused', async () => {
    for (const words of [
      ['show', newSessionId()],
      ['list-reads', newSessionId()],
      ['erase', newSessionId()],
    ]) {
      expect(await codeOf('evidence', ...words)).toBe(1)
    }
    expect(await codeOf('evidence', 'save', session, newSessionId(), '--out', join(world.root, 'out'))).toBe(1)
  })
})

describe('attester', () => {
  test('import makes a keystore once, and prints no key', async () => {
    const hex = '11'.repeat(32)
    const file = world.file('key.hex', hex)
    const made = await world.run('attester', 'import', file)
    expect(made).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A'),
    })
    expect(made.stdout + made.stderr).not.toContain(hex)
    const keystores = readdirSync(join(world.root, 'keystores'))
    expect((await world.run('attester', 'import', file)).code).toBe(1)
    expect(readdirSync(join(world.root, 'keystores'))).toEqual(keystores)
    for (const path of [world.file('no.key', 'no key'), '/nowhere']) {
      expect(await codeOf('attester', 'import', path)).toBe(1)
    }
  })

  test('retire takes an address in any case', async () => {
    const { address } = await json('attester', 'create', '--kind', 'secp256k1')
    expect((await json('attester', 'retire', address.toLowerCase())).status).toBe('retiring')
    expect(await codeOf('attester', 'retire', 'nobody')).toBe(1)
  })
})

test('binding delete takes an address, and a chain, a project or an id if several match', async () => {
  const file = world.file('policy.yaml', 'name: All\nrules: [{ id: all, allow: "true" }]\n')
  const { policy } = await json('policy', 'apply', file)
  const { verification_hash: hash } = await json('project', 'create', '--name', 'Shop', '--policy', policy)
  const address = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
  const { verification_hash: other } = await json('project', 'create', '--name', 'Bank', '--policy', policy)
  const bind = (project: string, chain: string) =>
    world.run('binding', 'create', '--project', project, '--chain', chain, '--address', address)
  for (const chain of ['base', 'ethereum', 'megaeth']) expect((await bind(hash, chain)).code).toBe(0)
  expect((await bind(other, 'megaeth-testnet')).code).toBe(0)
  expect(await codeOf('binding', 'delete', address, '--project', other, '--chain', 'megaeth')).toBe(1)
  expect(await codeOf('binding', 'delete', address, '--project', other)).toBe(0)
  expect(await codeOf('project', 'unbind', hash, '--chain', 'megaeth', '--address', address)).toBe(0)
  expect((await world.run('binding', 'delete', address.toLowerCase())).stderr).toMatch(/^2 match; .*binding_.*binding_/)
  const { data } = await json('binding', 'list', '--project', hash, '--chain', 'base')
  expect(await codeOf('binding', 'delete', data[0].id)).toBe(0)
  expect(await codeOf('binding', 'delete', address)).toBe(0)
  expect(await codeOf('binding', 'delete', address)).toBe(1)
})
