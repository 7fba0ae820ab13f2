import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { KEYS_HELP, runKeys } from '../../src/cli/keys.ts'
import { apiKeyStatus, matchesApiKey, parseApiKey } from '../../src/domain/api-key.ts'
import { StoreUnavailableError } from '../../src/store/errors.ts'
import { openOver } from '../cli/admin-client-over.ts'
import { recordOutput } from '../cli/recorded-output.ts'
import { openTemporaryStore, START_SECONDS, type TemporaryStore } from './temporary-store.ts'

const DAY = 86_400
const KEY_TEXT = /cs[aim]_(live|test)_[0-9A-Za-z]{61}/

let temporary: TemporaryStore

const run = async (...commandArguments: string[]) => {
  const { output, printed } = recordOutput()
  const code = await runKeys(commandArguments, { ...output, open: openOver(temporary), clock: temporary.clock })
  return { code, ...printed }
}
const issue = async (...options: string[]) => {
  const { code, stdout, stderr } = await run('issue', '--org', 'demo', '--kind', 'attestation', ...options)
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
  const text = stdout.trim()
  const keyId = parseApiKey(text)?.keyId ?? ''
  const key = await temporary.store.apiKeys.findForAuthentication(keyId)
  if (key === null) throw new Error('the key was not stored')
  expect(matchesApiKey(text, key.hash)).toBe(true)
  return { text, key, stdout, stderr }
}

beforeEach(async () => {
  temporary = await openTemporaryStore()
  await temporary.store.organizations.create({ slug: 'demo', name: 'Demo' })
})
afterEach(() => temporary.remove())

describe('keys issue', () => {
  test('prints the key alone on stdout, and its id on stderr', async () => {
    const { key, stdout, stderr } = await issue('--name', 'backend')
    expect(stdout).toMatch(/^csa_live_[0-9A-Za-z]{61}\n$/)
    expect(stderr).toContain(key.keyId)
    expect(stderr).not.toMatch(KEY_TEXT)
    expect(key).toMatchObject({
      name: 'backend',
      expiresAtSeconds: null,
      rateLimit: { requestsPerSecond: 1_000, burst: 2_000 },
    })
  })

  test('takes expiry, limits and environment', async () => {
    expect((await issue('--expires', '30d')).key.expiresAtSeconds).toBe(START_SECONDS + 30 * DAY)
    expect((await issue('--expires', '2026-02-01')).key.expiresAtSeconds).toBe(START_SECONDS + 31 * DAY)
    expect((await issue('--expires', '2026-01-01T02:00:00+01:00')).key.expiresAtSeconds).toBe(START_SECONDS + 3_600)
    expect((await issue('--rate', '10')).key.rateLimit).toEqual({ requestsPerSecond: 10, burst: 20 })
    expect((await issue('--rate', '1', '--burst', '3')).key.rateLimit).toEqual({ requestsPerSecond: 1, burst: 3 })
    expect((await issue('--no-rate-limit')).key.rateLimit).toBeNull()
    expect((await issue('--test')).text).toStartWith('csa_test_')
    const identity = await run('issue', '--org', 'demo', '--kind', 'identity')
    expect(identity.stdout).toStartWith('csi_live_')
  })

  test('with --json prints one object', async () => {
    const { stdout, stderr } = await run('issue', '--org', 'demo', '--kind', 'admin', '--json')
    const value = JSON.parse(stdout) as Record<string, unknown>
    expect(value).toMatchObject({ kind: 'admin', status: 'active', expiresAt: null, createdAt: '2026-01-01T00:00:00Z' })
    expect(parseApiKey(String(value['key']))?.keyId).toBe(String(value['keyId']))
    expect(stderr).toBe('')
  })
})

describe('keys list', () => {
  test('shows every key and no key text', async () => {
    const { key } = await issue('--name', 'backend')
    const other = await temporary.store.organizations.create({ slug: 'other', name: 'Other' })
    await run('issue', '--org', 'other', '--kind', 'identity')
    const all = await run('list')
    expect(all.stdout).toContain(key.keyId)
    expect(all.stdout.trimEnd().split('\n')).toHaveLength(3)
    expect(all.stdout + all.stderr).not.toMatch(KEY_TEXT)
    const one = await run('list', '--org', other.id, '--json')
    expect(JSON.parse(one.stdout)).toMatchObject([{ kind: 'identity', organization: 'other', status: 'active' }])
    expect(one.stdout).not.toContain('hash')
  })

  test('prints no control characters of a name', async () => {
    const organization = await temporary.store.organizations.find('demo')
    await temporary.store.apiKeys.issue({
      organizationId: organization?.id ?? '',
      kind: 'attestation',
      environment: 'live',
      name: 'evil\u001b[2J\u202e',
      expiresAtSeconds: null,
      rateLimit: null,
    })
    const { stdout } = await run('list')
    expect(stdout).toContain('evil?[2J?')
  })
})

describe('keys regenerate and revoke', () => {
  test('make a successor with the overlap asked for, a day unless stated', async () => {
    const { key } = await issue()
    const { code, stdout, stderr } = await run('regenerate', key.keyId)
    expect(code).toBe(0)
    const successor = parseApiKey(stdout.trim())
    expect(stderr).toContain(`${key.keyId} works until: 2026-01-02T00:00:00Z`)
    const now = await run('regenerate', successor?.keyId ?? '', '--overlap', '0', '--json')
    expect(JSON.parse(now.stdout)).toMatchObject({ status: 'active', previous: { status: 'expired' } })
    const again = await run('regenerate', key.keyId)
    expect(again.code).toBe(1)
    expect(again.stderr).toContain(successor?.keyId ?? '?')
  })

  test('revoking ends a key', async () => {
    const { key } = await issue()
    const { code, stdout } = await run('revoke', key.keyId)
    expect({ code, stdout }).toEqual({ code: 0, stdout: `revoked ${key.keyId} at 2026-01-01T00:00:00Z\n` })
    const revoked = await temporary.store.apiKeys.findForAuthentication(key.keyId)
    expect(apiKeyStatus(revoked ?? key, START_SECONDS)).toBe('revoked')
    expect((await run('regenerate', key.keyId)).code).toBe(1)
    expect((await run('revoke', '000000000000')).code).toBe(1)
  })

  test('a key given in place of its id is refused without repeating it', async () => {
    const { text } = await issue()
    for (const command of ['revoke', 'regenerate']) {
      const { code, stdout, stderr } = await run(command, text)
      expect(code).toBe(2)
      expect(stdout + stderr).not.toContain(text.slice(21))
    }
  })
})

describe('the command line', () => {
  test('--help prints the help anywhere', async () => {
    expect(await run('--help')).toEqual({ code: 0, stdout: KEYS_HELP, stderr: '' })
    expect((await run('issue', '--help')).stdout).toBe(KEYS_HELP)
  })

  const base = ['issue', '--org', 'demo', '--kind', 'attestation']
  for (const line of [
    [],
    ['toString'],
    ['unknown'],
    ['issue'],
    ['issue', '--org', 'demo'],
    ['issue', '--kind', 'attestation'],
    ['issue', '--org', 'demo', '--kind', 'root'],
    [...base, 'surplus'],
    [...base, '--unknown'],
    [...base, '--overlap', '1h'],
    [...base, '--expires', 'soon'],
    [...base, '--expires', '0'],
    [...base, '--expires', '2025-12-31'],
    [...base, '--expires', '2026-13-01'],
    [...base, '--expires', '2027-01-01T00:00:00'],
    [...base, '--expires', '99999d'],
    [...base, '--rate', '0'],
    [...base, '--rate', '1.5'],
    [...base, '--rate', '1e3'],
    [...base, '--burst', '-1'],
    [...base, '--rate', '1', '--no-rate-limit'],
    [...base, '--name', 'x'.repeat(101)],
    [...base, '--name', 'a\nb'],
    ['list', 'surplus'],
    ['regenerate'],
    ['regenerate', '000000000000', '--overlap', '-1h'],
    ['revoke', '000000000000', '000000000001'],
  ]) {
    test(`${JSON.stringify(line).slice(0, 80)} is exit code 2, a reason and how it is called, and nothing done`, async () => {
      const { code, stdout, stderr } = await run(...line)
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toMatch(/^[^\n]+\nUsage: countersign keys [\s\S]+\ncountersign keys --help says more\.\n$/)
      expect(JSON.parse((await run('list', '--json')).stdout)).toEqual([])
    })
  }

  test('an unknown organization is exit code 1', async () => {
    expect((await run('issue', '--org', 'nobody', '--kind', 'attestation')).code).toBe(1)
    expect((await run('list', '--org', 'nobody')).code).toBe(1)
  })

  test('a store that is unavailable is the caller’s to report', async () => {
    const { store } = temporary
    const page = () => Promise.reject(new StoreUnavailableError())
    const unavailable = { ...store, organizations: { ...store.organizations, page } }
    const silent = () => undefined
    await expect(
      runKeys(['list'], {
        open: openOver({ store: unavailable, clock: temporary.clock }),
        clock: temporary.clock,
        stdout: silent,
        stderr: silent,
      }),
    ).rejects.toBeInstanceOf(StoreUnavailableError)
  })
})
