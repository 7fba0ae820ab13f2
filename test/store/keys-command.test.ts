// The commands `key create`, `list`, `regenerate` and `revoke`.
import { beforeEach, describe, expect, test } from 'bun:test'
import { apiKeyStatus, matchesApiKey, parseApiKey } from '../../src/domain/api-key.ts'
import { openOver } from '../cli/admin-client-over.ts'
import { runWords } from '../cli/run-words.ts'
import { storeOfTest } from './store-of-test.ts'
import { openTemporaryStore, START_SECONDS } from './temporary-store.ts'

const DAY = 86_400
const KEY_TEXT = /cs[aim]_(live|test)_[0-9A-Za-z]{61}/

const temporary = storeOfTest(openTemporaryStore)

const run = (...words: string[]) => runWords(['key', ...words], { open: openOver(temporary), clock: temporary.clock })
const issue = async (...options: string[]) => {
  const { code, stdout, stderr } = await run('create', '--kind', 'attestation', '--name', 'x', ...options)
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
  const text = stdout.trim()
  const keyId = parseApiKey(text)?.keyId ?? ''
  const key = await temporary.store.apiKeys.findForAuthentication(keyId)
  if (key === null) throw new Error('the key was not stored')
  expect(matchesApiKey(text, key.hash)).toBe(true)
  return { text, key, stdout, stderr }
}

beforeEach(async () => {
  await temporary.store.organizations.create({ slug: 'demo', name: 'Demo' })
})

describe('key create', () => {
  test('prints only the key on stdout, and its id on stderr', async () => {
    const { key, stdout, stderr } = await issue('--name', 'backend')
    expect(stdout).toMatch(/^csa_live_[0-9A-Za-z]{61}\n$/)
    expect(stderr).toContain(key.keyId)
    expect(stderr).not.toMatch(KEY_TEXT)
    const rateLimit = { requestsPerSecond: 1_000, burst: 2_000 }
    expect(key).toMatchObject({ name: 'backend', expiresAtSeconds: null, rateLimit })
  })

  test('accepts an expiry, a rate limit, an environment and a kind', async () => {
    for (const [options, expected] of [
      ['--expires 30d', { expiresAtSeconds: START_SECONDS + 30 * DAY }],
      ['--expires 2026-02-01', { expiresAtSeconds: START_SECONDS + 31 * DAY }],
      ['--expires 2026-01-01T02:00:00+01:00', { expiresAtSeconds: START_SECONDS + 3_600 }],
      ['--rate 10', { rateLimit: { requestsPerSecond: 10, burst: 20 } }],
      ['--rate 1 --burst 3', { rateLimit: { requestsPerSecond: 1, burst: 3 } }],
      ['--no-rate-limit', { rateLimit: null }],
    ] as const) {
      expect((await issue(...options.split(' '))).key).toMatchObject(expected)
    }
    expect((await issue('--environment', 'test')).text).toStartWith('csa_test_')
    expect((await run('create', '--kind', 'identity', '--name', 'x')).stdout).toStartWith('csi_live_')
  })
})

describe('key list', () => {
  test('shows every key of an organization, without the key itself', async () => {
    const { key } = await issue('--name', 'backend')
    await temporary.store.organizations.create({ slug: 'other', name: 'Other' })
    await run('create', '--org', 'other', '--kind', 'identity', '--name', 'theirs')
    const own = await run('list')
    expect(own.stdout).toContain(key.keyId)
    expect(own.stdout + own.stderr).not.toMatch(KEY_TEXT)
    expect((await run('list', '--org', 'other')).stdout).toContain('theirs')
  })

  test('replaces control characters of a name', async () => {
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

describe('key regenerate and revoke', () => {
  test('create a successor with the given overlap, which defaults to a day', async () => {
    const { key } = await issue()
    const { code, stdout, stderr } = await run('regenerate', key.keyId)
    expect(code).toBe(0)
    const successor = parseApiKey(stdout.trim())
    expect(stderr).toMatch(/EXPIRES +2026-01-02T00:00:00Z/)
    const now = await run('regenerate', successor?.keyId ?? '', '--overlap', '0', '--json')
    expect(JSON.parse(now.stdout)).toMatchObject({ record: { status: 'active' }, previous: { status: 'expired' } })
    const again = await run('regenerate', key.keyId)
    expect(again.code).toBe(1)
    expect(again.stderr).toContain(successor?.keyId ?? '?')
  })

  test('revoke a key of any organization by its id, after a confirmation at a terminal', async () => {
    await temporary.store.organizations.create({ slug: 'other', name: 'Other' })
    const { key } = await issue('--org', 'other')
    const place = { open: openOver(temporary), clock: temporary.clock }
    const statusOf = async () =>
      apiKeyStatus((await temporary.store.apiKeys.findForAuthentication(key.keyId)) ?? key, START_SECONDS)
    const questions: string[] = []
    const confirm = async (question: string) => {
      questions.push(question)
      return false
    }
    expect((await runWords(['key', 'revoke', key.keyId], { ...place, ask: confirm })).code).toBe(1)
    expect(questions).toEqual([`revoke key ${key.keyId}: this cannot be undone.`])
    expect(await statusOf()).toBe('active')
    expect((await runWords(['key', 'revoke', key.keyId, '--yes'], { ...place, ask: confirm })).code).toBe(0)
    expect(await statusOf()).toBe('revoked')
    expect((await run('regenerate', key.keyId)).code).toBe(1)
    expect((await run('revoke', '000000000000')).code).toBe(1)
  })

  test('refuse a key in place of its id without printing the key', async () => {
    const { text } = await issue()
    for (const command of ['revoke', 'regenerate']) {
      const { code, stdout, stderr } = await run(command, text)
      expect(code).toBe(1)
      expect(stdout + stderr).not.toContain(text.slice(21))
    }
  })
})

describe('an invalid command line', () => {
  const base = ['create', '--kind', 'attestation', '--name', 'x']
  test.each(
    [
      ['create', '--name', 'x', '--kind', 'root'],
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
      ['regenerate', '000000000000', '--overlap', '-1h'],
    ].map((line) => [JSON.stringify(line).slice(0, 80), line] as const),
  )('prints a reason and the usage, exits with code 2, and changes nothing: %s', async (_name, line) => {
    const { code, stdout, stderr } = await run(...line)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(
      /^[^\n]+\nUsage: bun run countersign key [^\n]+\nTo list the options: bun run countersign key [a-z]+ --help\n$/,
    )
    expect(JSON.parse((await run('list', '--json')).stdout)).toEqual({ data: [], next_cursor: null })
  })

  test('exits with code 1 for an unknown organization', async () => {
    for (const words of [
      [...base, '--org', 'unknown'],
      ['list', '--org', 'unknown'],
    ]) {
      expect((await run(...words)).code).toBe(1)
    }
  })
})
