// `countersign session`: filters, errors and organizations.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { openOver } from '../cli/admin-client-over.ts'
import { runWords } from '../cli/run-words.ts'
import { evmWallet, openIdentity, type TestIdentity } from './support.ts'

let identity: TestIdentity
let demo: string

beforeEach(async () => {
  identity = await openIdentity()
  demo = await identity.createOrganization('demo')
})
afterEach(() => identity.remove())

const run = (...words: string[]) => runWords(words, { open: openOver(identity), clock: identity.clock })
describe('countersign session', () => {
  test('lists sessions by status, type and environment, newest first', async () => {
    const one = await identity.register(demo)
    const two = await identity.register(demo, { checkType: 'kyb', wallet: evmWallet(1) })
    const three = await identity.register(demo, { environment: 'test' })
    const ids = async (...options: string[]): Promise<string[]> =>
      (await run('session', 'list', '--quiet', ...options)).stdout.split('\n').filter((line) => line !== '')
    expect(await ids()).toEqual([three, two, one].map(({ session }) => session.id))
    expect(await ids('--limit', '1')).toEqual([three.session.id])
    expect(await ids('--environment', 'live')).toEqual([two, one].map(({ session }) => session.id))
    expect(await ids('--environment', 'test')).toEqual([three.session.id])
    expect(await ids('--type', 'business')).toEqual([two.session.id])
    expect(await ids('--status', 'retry')).toEqual([])
    expect((await run('session', 'list')).stdout).toContain(evmWallet(1))
    expect(await ids('--hits', 'none')).toHaveLength(3)
    expect(await ids('--hits', 'open')).toEqual([])
  })

  test('finds only sessions of the organization', async () => {
    const other = await identity.createOrganization('other')
    const { session } = await identity.register(other)
    expect(await run('session', 'show', session.id)).toMatchObject({ code: 1 })
    expect(await run('session', 'decide', session.id, 'completed')).toMatchObject({ code: 1 })
    expect((await run('session', 'show', session.id, '--org', 'other')).code).toBe(0)
  })

  test.each([
    [['list', '--type', 'kyc'], 2],
    [['list', '--hits', 'some'], 2],
    [['list', '--limit', '1001'], 2],
    [['list', '--org', 'nobody'], 1],
    [['show', 'nonsense'], 1],
    [['decide', 'nonsense', 'completed'], 1],
    [['decide', 'nonsense', 'submitted'], 2],
  ])('%p exits with %d', async (commandArguments, code) => {
    const result = await run('session', ...commandArguments)
    expect(result.code).toBe(code)
    expect(result.stderr).not.toBe('')
  })
})
