// Errors of the attestation API: each row of the specification and each kind of invalid input, with status, text and body.
// After each of them, a valid request succeeds.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { issueKey, projectRequest, succeed, WALLET } from '../service/calls.ts'
import { type RunningService, startService } from '../service/start-service.ts'
import { until } from '../support/until.ts'
import { expectProblem } from './identity-caller.ts'

const SOLANA = 'DeZVDBizsEVYvCDyLDLU8MPgE6ndYE2dDA1MXaL2neJC'

let service: RunningService
let quickstart: Readonly<Record<string, string>>
const value = (name: string): string => quickstart[name] ?? ''
const valid = (): Record<string, unknown> => projectRequest(service)

const expectValidRequestSucceeds = async (): Promise<void> => {
  const response = await service.attest(valid())
  expect(response.status).toBe(200)
  expect(((await response.json()) as { is_compliant: boolean }).is_compliant).toBe(true)
}

beforeAll(async () => {
  service = await startService({ environment: { COUNTERSIGN_WORKERS: '1' } })
  quickstart = service.quickstart
})
afterEach(expectValidRequestSucceeds)
afterAll(async () => {
  await service.stop()
})

describe('rows of the specification', () => {
  const base = { from: WALLET, chain: 'base' }
  const unbound = '0x2222222222222222222222222222222222222222'
  const unknown = 'x-0123456789abcdef'
  const failed = 'request validation failed: '
  const noPolicy = `${failed}failed to get policy ID for `
  test.each<[string, () => object, string, string]>([
    [
      '1: an address without a policy',
      () => ({ ...base, to: unbound }),
      'POLICY_NOT_FOUND',
      `${noPolicy}address ${unbound}`,
    ],
    [
      '1: a hash without a policy',
      () => ({ ...base, verification_hash: unknown }),
      'POLICY_NOT_FOUND',
      `${noPolicy}verification hash ${unknown}`,
    ],
    ...['from', 'chain'].flatMap((field) =>
      [undefined, null, ''].map((absent): [string, () => object, string, string] => [
        `2: ${field} is ${absent === '' ? 'empty' : absent}`,
        () => ({ ...valid(), [field]: absent }),
        'MISSING_REQUIRED_FIELD',
        `Missing required field: ${field}`,
      ]),
    ),
    ['2: no target', () => base, 'MISSING_REQUIRED_FIELD', 'Missing required field: to or verification_hash'],
    [
      'two targets',
      () => ({ ...valid(), to: value('DEMO_CONTRACT') }),
      'AMBIGUOUS_TARGET',
      `${failed}specify either to or verification_hash, not both`,
    ],
    [
      '3: unknown chain',
      () => ({ ...valid(), chain: 'dogecoin' }),
      'UNSUPPORTED_CHAIN',
      'unsupported chain ID dogecoin',
    ],
  ])('%s is 400', async (_name, body, code, detail) => {
    await expectProblem(await service.attest(body()), 400, code, detail)
  })

  test('4: an invalid key gets 401, and a key of the identity API gets 403', async () => {
    const key = value('ATTESTATION_API_KEY')
    const changed = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`
    for (const bad of ['', 'nonsense', changed, `${key}, ${key}`, ` ${key}x`]) {
      await expectProblem(await service.attest(valid(), { 'x-api-key': bad }), 401, 'UNAUTHENTICATED')
    }
    const without = await fetch(`${quickstart['ATTESTATION_URL']}/v2/attestation`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(valid()),
    })
    await expectProblem(without, 401, 'UNAUTHENTICATED')
    await expectProblem(
      await service.attest(valid(), { 'x-api-key': value('IDENTITY_API_KEY') }),
      403,
      'FORBIDDEN_SCOPE',
    )
  })
})

describe('keys of commands', () => {
  const ours = '--org demo --kind attestation'
  /** Returns the first response with the status. */
  const statusBecomes = async (key: string, status: number): Promise<Response> => {
    let response = await service.attest(valid(), { 'x-api-key': key })
    await until(async () => {
      if (response.status !== status) response = await service.attest(valid(), { 'x-api-key': key })
      return response.status === status
    })
    return response
  }

  test('an issued key is valid and rate limited until its revocation', async () => {
    const { key, keyId } = await issueKey(service, ours)
    const response = await statusBecomes(key, 200)
    expect(response.headers.get('ratelimit-limit')).toBe('2000')
    await succeed(service, 'key', 'revoke', keyId)
    await expectProblem(await statusBecomes(key, 401), 401, 'UNAUTHENTICATED')
  })

  test('a key stays valid for the overlap after its regeneration, and expires immediately with overlap 0', async () => {
    const { key, keyId } = await issueKey(service, ours)
    const regenerate = async (id: string, overlap: string): Promise<{ key: string; record: { id: string } }> =>
      JSON.parse(await succeed(service, 'key', 'regenerate', id, '--overlap', overlap, '--json'))
    const second = await regenerate(keyId, '1h')
    await statusBecomes(second.key, 200)
    await statusBecomes(key, 200)
    await statusBecomes((await regenerate(second.record.id, '0')).key, 200)
    await expectProblem(await statusBecomes(second.key, 401), 401, 'UNAUTHENTICATED')
  })

  test('6: a request above the rate limit gets 429 with Retry-After and the rate limit headers', async () => {
    const { key } = await issueKey(service, `${ours} --rate 1 --burst 3`)
    await statusBecomes(key, 200)
    // Sent at the same time, because the limit refills a token per second.
    const responses = await Promise.all(Array.from({ length: 20 }, () => service.attest(valid(), { 'x-api-key': key })))
    const limited = responses.find(({ status }) => status === 429) as Response
    expect(limited.headers.get('retry-after')).toMatch(/^[1-9][0-9]*$/)
    const headers = ['limit', 'remaining', 'reset'].map((name) => limited.headers.get(`ratelimit-${name}`))
    expect(headers).toEqual(['3', '0', expect.stringMatching(/^[0-9]+$/)])
    await expectProblem(limited, 429, 'RATE_LIMITED')
  })
})

describe('invalid values', () => {
  const solana = (): Record<string, unknown> => ({ from: SOLANA, chain: 'solana', to: value('DEMO_PROGRAM') })

  test.each([
    ['from of another family', { from: SOLANA }],
    ['to of the wrong type', { to: ['x'] }],
    ['data without 0x', { data: 'abcd' }],
    ['a negative msg_value', { msg_value: '-1' }],
    ['user_ip that is not an IP address', { user_ip: '999.1.1.1' }],
  ])('%s is 400', async (_name, change) => {
    const problem = await expectProblem(
      await service.attest({ from: WALLET, chain: 'base', to: value('DEMO_CONTRACT'), ...change }),
      400,
      'INVALID_FIELD',
    )
    expect(problem.detail).toStartWith('request validation failed: ')
  })

  test.each([
    ['an EVM address as from', { from: WALLET }],
    ['2^64 lamports', { msg_value: (2n ** 64n).toString() }],
  ])('on solana: %s is 400', async (_name, change) => {
    await expectProblem(await service.attest({ ...solana(), ...change }), 400, 'INVALID_FIELD')
  })

  test('a base58 address in a different case is a different address', async () => {
    const to = value('DEMO_PROGRAM')
    const swapped = [...to].map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())).join('')
    const response = await service.attest({ ...solana(), to: swapped })
    expect(response.status).toBe(400)
  })
})

describe('invalid bodies and headers', () => {
  test.each([
    ['an empty body', '', 'MALFORMED_JSON'],
    ['an array', '[]', 'INVALID_REQUEST'],
    ['a duplicate key', '{"from":"0x1","from":"0x2"}', 'DUPLICATE_KEY'],
    ['17 levels', `${'{"a":'.repeat(17)}1${'}'.repeat(17)}`, 'JSON_TOO_DEEP'],
  ])('%s is 400', async (_name, body, code) => {
    await expectProblem(await service.attest(body), 400, code)
  })

  test('a body over 256 KiB gets 413, and another content type gets 415', async () => {
    const large = JSON.stringify({ ...valid(), padding: 'x'.repeat(262_144) })
    await expectProblem(await service.attest(large), 413, 'PAYLOAD_TOO_LARGE')
    const response = await service.attest(valid(), { 'content-type': 'text/plain' })
    await expectProblem(response, 415, 'UNSUPPORTED_MEDIA_TYPE')
  })

  test('an invalid Idempotency-Key gets 400', async () => {
    await expectProblem(await service.attest(valid(), { 'idempotency-key': 'x'.repeat(256) }), 400, 'INVALID_HEADER')
  })
})

describe('other requests', () => {
  test('an unknown path gets 404, and another method gets 405', async () => {
    const base = quickstart['ATTESTATION_URL'] ?? ''
    await expectProblem(await fetch(`${base}/v2/nothing`), 404, 'NOT_FOUND')
    const wrongMethod = await fetch(`${base}/v2/attestation`)
    expect(wrongMethod.headers.get('allow')).toBe('POST')
    await expectProblem(wrongMethod, 405, 'METHOD_NOT_ALLOWED')
  })

  test('a connection that does not use HTTP is closed with a 400', async () => {
    const url = new URL(quickstart['ATTESTATION_URL'] ?? '')
    const reply = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(url.port), url.hostname, () => socket.write('NONSENSE\r\n\r\n'))
      let text = ''
      socket.on('data', (chunk) => {
        text += chunk
      })
      socket.on('close', () => resolve(text))
      socket.on('error', reject)
    })
    expect(reply).toStartWith('HTTP/1.1 400')
  })

  test('the log does not contain keys', () => {
    const { stderr } = service.output()
    for (const name of ['ATTESTATION_API_KEY', 'IDENTITY_API_KEY', 'ADMIN_API_KEY']) {
      expect(stderr).not.toContain(value(name))
      expect(stderr).not.toContain(value(name).slice(22))
    }
  })
})
