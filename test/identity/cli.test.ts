import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { runOrg } from '../../src/cli/org.ts'
import { runSession } from '../../src/cli/session.ts'
import type { Store } from '../../src/store/store.ts'
import { openOver } from '../cli/door-over.ts'
import { evmWallet, openIdentity, type TestIdentity } from './support.ts'

let identity: TestIdentity
let demo: string
let store: Store

beforeEach(async () => {
  identity = await openIdentity()
  demo = await identity.createOrganization('demo')
  // The commands close what they open; the test goes on with it.
  store = { ...identity.store, close: async () => undefined }
})
afterEach(() => identity.remove())

const run = async (verb: 'org' | 'session', ...commandArguments: string[]) => {
  const out: string[] = []
  const err: string[] = []
  const output = { stdout: (text: string) => out.push(text), stderr: (text: string) => err.push(text) }
  const open = openOver({ store, clock: identity.clock })
  const code =
    verb === 'org'
      ? await runOrg(commandArguments, { output, open })
      : await runSession(commandArguments, { output, open, user: 'anna' })
  return { code, stdout: out.join(''), stderr: err.join('') }
}
const json = async <Value>(...commandArguments: Parameters<typeof run>): Promise<Value> => {
  const { code, stdout, stderr } = await run(...commandArguments, '--json')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout) as Value
}

describe('countersign org', () => {
  test('creates, lists and sets the level', async () => {
    const created = await json<{ slug: string; level: string }[]>(
      'org',
      'create',
      'acme',
      '--name',
      'Acme Inc.',
      '--level',
      'standard',
    )
    expect(created).toMatchObject([{ slug: 'acme', name: 'Acme Inc.', level: 'standard' }] as never)
    expect(await json<unknown>('org', 'level', 'acme', 'enhanced')).toMatchObject([{ level: 'enhanced' }])
    expect((await run('org', 'list')).stdout).toMatch(/^acme +org_\S+ +enhanced +\S+ +Acme Inc\.$/m)
    expect((await identity.store.organizations.find('acme'))?.level).toBe(3)
  })

  test('says whose verifications count', async () => {
    for (const slug of ['acme', 'bank']) await json('org', 'create', slug)
    expect(await json<unknown>('org', 'trust', 'demo')).toEqual({ slug: 'demo', trusts: 'all' })
    expect(await json<unknown>('org', 'trust', 'demo', 'bank', 'acme')).toEqual({
      slug: 'demo',
      trusts: ['acme', 'bank'],
    })
    expect((await run('org', 'trust', 'demo')).stdout).toMatch(/^demo +acme bank$/m)
    expect(await json<unknown>('org', 'trust', 'demo', 'none')).toEqual({ slug: 'demo', trusts: [] })
    expect(await json<unknown>('org', 'trust', 'demo', 'all')).toEqual({ slug: 'demo', trusts: 'all' })
  })

  test.each([
    [['trust'], 2, 'ORG is missing'],
    [['trust', 'nobody', 'all'], 1, 'there is no organization nobody'],
    [['trust', 'demo', 'nobody'], 2, 'must name organizations of this deployment'],
    [['trust', 'demo', 'demo'], 2, 'at least one other organization'],
    [['trust', 'demo', 'all', 'none'], 2, 'must name organizations of this deployment'],
    [['create', 'demo'], 1, 'already'],
    [['create', 'Bad_Slug'], 2, 'SLUG must be'],
    [['create'], 2, 'SLUG is missing'],
    [['create', 'x', '--level', 'high'], 2, 'LEVEL must be one of basic, standard, enhanced'],
    [['level', 'demo'], 2, 'LEVEL must be'],
    [['level', 'nobody', 'basic'], 1, 'there is no organization nobody'],
    [['level', 'demo', '__proto__'], 2, 'LEVEL must be'],
    [[], 2, 'say what to do'],
    [['remove'], 2, 'say what to do'],
    [['list', '--bogus'], 2, 'bogus'],
  ])('%p exits with %d', async (commandArguments, code, text) => {
    const result = await run('org', ...commandArguments)
    expect(result.code).toBe(code)
    expect(result.stderr).toContain(text)
    expect(result.stdout).toBe('')
  })
})

describe('countersign session', () => {
  test('lists by status, type and environment, newest first', async () => {
    const one = await identity.register(demo)
    const two = await identity.register(demo, { checkType: 'kyb', wallet: evmWallet(1) })
    const three = await identity.register(demo, { environment: 'test' })
    const ids = async (...options: string[]): Promise<string[]> =>
      (await run('session', 'list', '--quiet', ...options)).stdout.split('\n').filter((line) => line !== '')
    expect(await ids()).toEqual([three, two, one].map(({ session }) => session.id))
    expect(await ids('--limit', '1')).toEqual([three.session.id])
    expect(await ids('--live')).toEqual([two, one].map(({ session }) => session.id))
    expect(await ids('--test')).toEqual([three.session.id])
    expect(await ids('--type', 'business')).toEqual([two.session.id])
    expect(await ids('--status', 'retry')).toEqual([])
    expect((await run('session', 'list')).stdout).toContain(evmWallet(1))
    expect(await json<unknown[]>('session', 'list')).toHaveLength(3)
    expect(await json<unknown[]>('session', 'list', '--hits', 'none')).toHaveLength(3)
    expect(await json<unknown[]>('session', 'list', '--hits', 'open')).toEqual([])
  })

  test('decides, with what the person is told and what only operators see', async () => {
    const { session } = await identity.register(demo)
    const options = ['--comment', 'Please again.', '--note', 'Looks edited.']
    const decided = await json<{ status: string; events: unknown[] }>(
      'session',
      'decide',
      session.id,
      'retry',
      ...options,
    )
    expect(decided).toMatchObject({ status: 'retry', publicComment: 'Please again.' } as never)
    expect(decided.events.at(-1)).toMatchObject({
      actor: 'operator:anna',
      publicComment: 'Please again.',
      privateComment: 'Looks edited.',
    })
    const shown = await run('session', 'show', session.id.toUpperCase())
    expect(shown.stdout).toContain('Looks edited.')
    await run('session', 'decide', session.id, 'completed', '--by', 'berta')
    const events = await identity.store.sessions.listEvents(demo, session.id)
    expect(events.at(-1)).toMatchObject({ status: 'completed', actor: 'operator:berta' })
  })

  test('takes a completed session back only when told to', async () => {
    const { session } = await identity.complete(demo, [evmWallet(1)])
    const refused = await run('session', 'decide', session.id, 'rejected')
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('--revoke') })
    expect((await run('session', 'decide', session.id, 'rejected', '--revoke', '--note', 'Fraud.')).code).toBe(0)
  })

  test('a comment can not steer the terminal', async () => {
    const { session } = await identity.register(demo)
    await identity.changes.changeStatus({
      organizationId: demo,
      sessionId: session.id,
      to: 'retry',
      actor: 'provider:\u001b[31mred',
      publicComment: 'a\u001b[2Jb\u202ec',
    })
    const { stdout } = await run('session', 'show', session.id)
    expect(stdout).toContain('a?[2Jb?c')
    expect(stdout).not.toContain('\u001b')
  })

  test('knows only the organization’s own sessions', async () => {
    const other = await identity.createOrganization('other')
    const { session } = await identity.register(other)
    expect(await run('session', 'show', session.id)).toMatchObject({ code: 1 })
    expect(await run('session', 'decide', session.id, 'completed')).toMatchObject({ code: 1 })
    expect((await run('session', 'show', session.id, '--org', 'other')).code).toBe(0)
  })

  test.each([
    [['list', '--status', 'done'], 2],
    [['list', '--type', 'kyc'], 2],
    [['list', '--hits', 'some'], 2],
    [['list', '--limit', '0'], 2],
    [['list', '--limit', '1001'], 2],
    [['list', '--test', '--live'], 2],
    [['list', '--org', 'nobody'], 1],
    [['show'], 2],
    [['show', 'nonsense'], 1],
    [['decide', 'nonsense', 'completed'], 1],
    [['decide', 'nonsense', 'submitted'], 2],
    [[], 2],
  ])('%p exits with %d', async (commandArguments, code) => {
    const result = await run('session', ...commandArguments)
    expect(result.code).toBe(code)
    expect(result.stderr).not.toBe('')
  })

  test('and org say how they are used', async () => {
    for (const verb of ['org', 'session'] as const) {
      const { code, stdout } = await run(verb, '--help')
      expect(code).toBe(0)
      expect(stdout).toStartWith(`Usage: countersign ${verb}`)
    }
  })
})
