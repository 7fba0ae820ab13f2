// Interface A's errors: each row of the specification and each kind of bad input, with its status, its text and the
// shape of the body; nothing is signed; and a good request right after succeeds.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { issueKey } from '../service/calls.ts'
import { type RunningService, runCommand, startService } from '../service/start-service.ts'
import { until } from '../support/until.ts'

const WALLET = '0x1111111111111111111111111111111111111111'
const SOLANA = 'DeZVDBizsEVYvCDyLDLU8MPgE6ndYE2dDA1MXaL2neJC'

interface Problem {
  type: string
  title: string
  status: number
  detail: string
  code: string
  request_id: string
  message: string
  error: string
}

let service: RunningService
let quickstart: Readonly<Record<string, string>>
const value = (name: string): string => quickstart[name] ?? ''
const good = (): Record<string, unknown> => ({
  from: WALLET,
  chain: 'base',
  verification_hash: value('VERIFICATION_HASH'),
})

/** Checks the shape that every error has, and that it carries no signature. */
const expectProblem = async (response: Response, status: number, code: string, text?: string): Promise<Problem> => {
  const raw = await response.text()
  expect({ status: response.status, raw }).toEqual({ status, raw })
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  const problem = JSON.parse(raw) as Problem
  expect(Object.keys(problem)).toEqual(
    expect.arrayContaining(['type', 'title', 'status', 'detail', 'code', 'request_id', 'message', 'error']),
  )
  expect(problem.status).toBe(status)
  expect(problem.code).toBe(code)
  expect(problem.message).toBe(problem.detail)
  expect(problem.error).toBe(problem.detail)
  expect(problem.request_id).toBe(response.headers.get('x-request-id') ?? '')
  if (text !== undefined) expect(problem.detail).toBe(text)
  expect(raw).not.toContain('signature')
  return problem
}

const expectGoodRequestWorks = async (): Promise<void> => {
  const response = await service.attest(good())
  expect(response.status).toBe(200)
  expect(((await response.json()) as { is_compliant: boolean }).is_compliant).toBe(true)
}

beforeAll(async () => {
  service = await startService({ environment: { COUNTERSIGN_WORKERS: '1' } })
  quickstart = service.quickstart
})
afterEach(expectGoodRequestWorks)
afterAll(async () => {
  await service.stop()
})

describe('rows of the specification', () => {
  test('1: an address or a project without a policy', async () => {
    const to = '0x2222222222222222222222222222222222222222'
    await expectProblem(
      await service.attest({ from: WALLET, chain: 'base', to }),
      400,
      'POLICY_NOT_FOUND',
      `request validation failed: failed to get policy ID for address ${to}`,
    )
    await expectProblem(
      await service.attest({ from: WALLET, chain: 'base', verification_hash: 'x-0123456789abcdef' }),
      400,
      'POLICY_NOT_FOUND',
      'request validation failed: failed to get policy ID for verification hash x-0123456789abcdef',
    )
  })

  test('2: a missing field is named', async () => {
    for (const field of ['from', 'chain']) {
      for (const absent of [undefined, null, '']) {
        await expectProblem(
          await service.attest({ ...good(), [field]: absent }),
          400,
          'MISSING_REQUIRED_FIELD',
          `Missing required field: ${field}`,
        )
      }
    }
    await expectProblem(
      await service.attest({ from: WALLET, chain: 'base' }),
      400,
      'MISSING_REQUIRED_FIELD',
      'Missing required field: to or verification_hash',
    )
  })

  test('both targets', async () => {
    await expectProblem(
      await service.attest({ ...good(), to: value('DEMO_CONTRACT') }),
      400,
      'AMBIGUOUS_TARGET',
      'request validation failed: specify either to or verification_hash, not both',
    )
  })

  test('3: an unknown chain', async () => {
    await expectProblem(
      await service.attest({ ...good(), chain: 'dogecoin' }),
      400,
      'UNSUPPORTED_CHAIN',
      'unsupported chain ID dogecoin',
    )
  })

  test('4: the key', async () => {
    const key = value('ATTESTATION_API_KEY')
    const lastCharacter = key.endsWith('A') ? 'B' : 'A'
    for (const bad of ['', 'nonsense', `${key.slice(0, -1)}${lastCharacter}`, `${key}, ${key}`, ` ${key}x`]) {
      await expectProblem(await service.attest(good(), { 'x-api-key': bad }), 401, 'UNAUTHENTICATED')
    }
    const without = await fetch(`${quickstart['ATTESTATION_URL']}/v2/attestation`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(good()),
    })
    await expectProblem(without, 401, 'UNAUTHENTICATED')
    await expectProblem(
      await service.attest(good(), { 'x-api-key': value('IDENTITY_API_KEY') }),
      403,
      'FORBIDDEN_SCOPE',
    )
  })
})

describe('keys by command', () => {
  const ours = '--org demo --kind attestation'
  /** The first response with the status. */
  const statusBecomes = async (key: string, status: number): Promise<Response> => {
    let response = await service.attest(good(), { 'x-api-key': key })
    await until(async () => {
      if (response.status !== status) response = await service.attest(good(), { 'x-api-key': key })
      return response.status === status
    })
    return response
  }

  test('an issued key works, is rate limited by default, and stops after its revocation', async () => {
    const { key, keyId } = await issueKey(service, ours)
    const response = await statusBecomes(key, 200)
    expect(response.headers.get('ratelimit-limit')).toBe('2000')
    expect((await runCommand(service.dataDirectory, 'key', 'revoke', keyId)).code).toBe(0)
    await expectProblem(await statusBecomes(key, 401), 401, 'UNAUTHENTICATED')
  })

  test('a regenerated key works beside the old one for the overlap, and expires at once with overlap 0', async () => {
    const { key, keyId } = await issueKey(service, ours)
    const next = await runCommand(service.dataDirectory, 'key', 'regenerate', keyId, '--overlap', '1h', '--json')
    const second = JSON.parse(next.stdout) as { key: string; record: { id: string } }
    await statusBecomes(second.key, 200)
    await statusBecomes(key, 200)
    const last = await runCommand(
      service.dataDirectory,
      'key',
      'regenerate',
      second.record.id,
      '--overlap',
      '0',
      '--json',
    )
    await statusBecomes((JSON.parse(last.stdout) as { key: string }).key, 200)
    await expectProblem(await statusBecomes(second.key, 401), 401, 'UNAUTHENTICATED')
  })

  test('6: past the rate limit is 429 with Retry-After and the limit’s headers', async () => {
    const { key } = await issueKey(service, `${ours} --rate 1 --burst 3`)
    await statusBecomes(key, 200)
    // All at once: a slow machine would earn a token between two.
    const responses = await Promise.all(Array.from({ length: 20 }, () => service.attest(good(), { 'x-api-key': key })))
    const limited = responses.find(({ status }) => status === 429) as Response
    expect(limited.headers.get('retry-after')).toMatch(/^[1-9][0-9]*$/)
    expect(limited.headers.get('ratelimit-limit')).toBe('3')
    expect(limited.headers.get('ratelimit-remaining')).toBe('0')
    expect(limited.headers.get('ratelimit-reset')).toMatch(/^[0-9]+$/)
    await expectProblem(limited, 429, 'RATE_LIMITED')
  })
})

describe('values', () => {
  const onChain = (): Record<string, unknown> => ({ from: WALLET, chain: 'base', to: value('DEMO_CONTRACT') })
  const solana = (): Record<string, unknown> => ({ from: SOLANA, chain: 'solana', to: value('DEMO_PROGRAM') })

  test.each([
    ['from of another family', { from: SOLANA }],
    ['to of the wrong type', { to: ['x'] }],
    ['data without 0x', { data: 'abcd' }],
    ['msg_value below zero', { msg_value: '-1' }],
    ['user_ip that is none', { user_ip: '999.1.1.1' }],
  ])('%s', async (_name, change) => {
    const problem = await expectProblem(await service.attest({ ...onChain(), ...change }), 400, 'INVALID_FIELD')
    expect(problem.detail).toStartWith('request validation failed: ')
  })

  test.each([
    ['an EVM address as from', { from: WALLET }],
    ['2^64 lamports', { msg_value: (2n ** 64n).toString() }],
  ])('on solana: %s', async (_name, change) => {
    await expectProblem(await service.attest({ ...solana(), ...change }), 400, 'INVALID_FIELD')
  })

  test('a base58 address in another case is another address', async () => {
    const to = value('DEMO_PROGRAM')
    const swapped = [...to].map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())).join('')
    const response = await service.attest({ ...solana(), to: swapped })
    expect(response.status).toBe(400)
  })
})

describe('bodies', () => {
  test.each([
    ['nothing', '', 'MALFORMED_JSON'],
    ['an array', '[]', 'INVALID_REQUEST'],
    ['a key twice', '{"from":"0x1","from":"0x2"}', 'DUPLICATE_KEY'],
    ['17 levels', `${'{"a":'.repeat(17)}1${'}'.repeat(17)}`, 'JSON_TOO_DEEP'],
  ])('%s', async (_name, body, code) => {
    await expectProblem(await service.attest(body), 400, code)
  })

  test('over 256 KiB is 413, and another content type 415', async () => {
    const large = JSON.stringify({ ...good(), padding: 'x'.repeat(262_144) })
    await expectProblem(await service.attest(large), 413, 'PAYLOAD_TOO_LARGE')
    const response = await service.attest(good(), { 'content-type': 'text/plain' })
    await expectProblem(response, 415, 'UNSUPPORTED_MEDIA_TYPE')
  })

  test('an unusable Idempotency-Key is 400', async () => {
    await expectProblem(await service.attest(good(), { 'idempotency-key': 'x'.repeat(256) }), 400, 'INVALID_HEADER')
  })
})

describe('everything else', () => {
  test('another path is 404, another method 405', async () => {
    const base = quickstart['ATTESTATION_URL'] ?? ''
    await expectProblem(await fetch(`${base}/v2/nothing`), 404, 'NOT_FOUND')
    const wrongMethod = await fetch(`${base}/v2/attestation`)
    expect(wrongMethod.headers.get('allow')).toBe('POST')
    await expectProblem(wrongMethod, 405, 'METHOD_NOT_ALLOWED')
  })

  test('a connection that sends nonsense is closed and harms nobody', async () => {
    const url = new URL(quickstart['ATTESTATION_URL'] ?? '')
    const reply = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(url.port), url.hostname, () => socket.write('NONSENSE\r\n\r\n'))
      let text = ''
      socket.on('data', (chunk) => {
        text += chunk.toString()
      })
      socket.on('close', () => resolve(text))
      socket.on('error', reject)
    })
    expect(reply).toStartWith('HTTP/1.1 400')
  })

  test('no secret reached the log', () => {
    const { stderr } = service.output()
    for (const name of ['ATTESTATION_API_KEY', 'IDENTITY_API_KEY', 'ADMIN_API_KEY']) {
      expect(stderr).not.toContain(value(name))
      expect(stderr).not.toContain(value(name).slice(22))
    }
  })
})
