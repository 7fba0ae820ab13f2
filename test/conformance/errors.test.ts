// Interface A's errors: each row of the specification and each kind of bad input, with its status, its text and the
// shape of the body; nothing is signed; and a good request right after succeeds.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import bs58 from 'bs58'
import { issueKey } from '../service/calls.ts'
import { type RunningService, runCommand, startService } from '../service/start-service.ts'

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
  /** Asks until the status is as wanted; a change must be live within one second. */
  const statusBecomes = async (key: string, status: number): Promise<Response> => {
    const deadline = performance.now() + 1000
    for (;;) {
      const response = await service.attest(good(), { 'x-api-key': key })
      if (response.status === status) return response
      if (performance.now() > deadline) throw new Error(`still ${response.status} after a second`)
    }
  }

  test('an issued key works, is rate limited by default, and stops within a second of its revocation', async () => {
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
    let limited: Response | null = null
    for (let request = 0; request < 5 && limited === null; request++) {
      const response = await service.attest(good(), { 'x-api-key': key })
      if (response.status === 429) limited = response
    }
    if (limited === null) throw new Error('never limited')
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
    ['from of the wrong type', { from: 7 }],
    ['from too short', { from: '0x11' }],
    ['from too long', { from: `${WALLET}11` }],
    ['from without 0x', { from: WALLET.slice(2) }],
    ['from with a letter that is no digit', { from: `${WALLET.slice(0, -1)}g` }],
    ['from with a Kelvin sign', { from: `${WALLET.slice(0, -1)}\u212a` }],
    ['from of another family', { from: SOLANA }],
    ['to of another family', { to: SOLANA }],
    ['to of the wrong type', { to: ['x'] }],
    ['chain of the wrong type', { chain: 8453 }],
    ['data with an odd number of digits', { data: '0xabc' }],
    ['data without 0x', { data: 'abcd' }],
    ['data that is no hex', { data: '0xzz' }],
    ['data over 64 KiB', { data: `0x${'ab'.repeat(65537)}` }],
    ['data of the wrong type', { data: 1 }],
    ['msg_value of spaces', { msg_value: '  ' }],
    ['msg_value with spaces', { msg_value: ' 12 ' }],
    ['msg_value with a sign', { msg_value: '+1' }],
    ['msg_value below zero', { msg_value: '-1' }],
    ['msg_value with an exponent', { msg_value: '1e18' }],
    ['msg_value with a fraction', { msg_value: '1.0' }],
    ['msg_value with a leading zero', { msg_value: '01' }],
    ['msg_value as a number', { msg_value: 1 }],
    ['msg_value of 2^256', { msg_value: (2n ** 256n).toString() }],
    ['msg_value of empty hex', { msg_value: '0x' }],
    ['msg_value of 2^256 in hex', { msg_value: `0x1${'0'.repeat(64)}` }],
    ['user_ip that is none', { user_ip: '999.1.1.1' }],
    ['user_ip of the wrong type', { user_ip: {} }],
  ])('%s', async (_name, change) => {
    const problem = await expectProblem(await service.attest({ ...onChain(), ...change }), 400, 'INVALID_FIELD')
    expect(problem.detail).toStartWith('request validation failed: ')
  })

  test.each([
    ['an EVM address as from', { from: WALLET }],
    ['31 bytes', { from: bs58.encode(new Uint8Array(31).fill(7)) }],
    ['33 bytes', { from: bs58.encode(new Uint8Array(33).fill(7)) }],
    ['a character outside base58', { from: `0${SOLANA.slice(1)}` }],
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
    ['half an object', '{"from":', 'MALFORMED_JSON'],
    ['text after the object', '{} {}', 'MALFORMED_JSON'],
    ['an array', '[]', 'INVALID_REQUEST'],
    ['a string', '"x"', 'INVALID_REQUEST'],
    ['null', 'null', 'INVALID_REQUEST'],
    ['a key twice', '{"from":"0x1","from":"0x2"}', 'DUPLICATE_KEY'],
    ['a key twice, once escaped', '{"from":"0x1","fr\\u006fm":"0x2"}', 'DUPLICATE_KEY'],
    ['a key twice, inside', '{"x":{"a":1,"a":1}}', 'DUPLICATE_KEY'],
    ['17 levels', `${'{"a":'.repeat(17)}1${'}'.repeat(17)}`, 'JSON_TOO_DEEP'],
    ['100,000 levels', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'JSON_TOO_DEEP'],
  ])('%s', async (_name, body, code) => {
    await expectProblem(await service.attest(body), 400, code)
  })

  test('__proto__ can not smuggle a field in', async () => {
    const response = await service.attest(`{"__proto__":{"chain":"base"},"from":"${WALLET}"}`)
    await expectProblem(response, 400, 'INVALID_REQUEST')
  })

  test('over 256 KiB is 413, announced or chunked', async () => {
    const large = JSON.stringify({ ...good(), padding: 'x'.repeat(262_144) })
    await expectProblem(await service.attest(large), 413, 'PAYLOAD_TOO_LARGE')
    const chunked = await fetch(`${quickstart['ATTESTATION_URL']}/v2/attestation`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': value('ATTESTATION_API_KEY') },
      body: new ReadableStream({
        start(controller) {
          for (let offset = 0; offset < large.length; offset += 65_536) {
            controller.enqueue(new TextEncoder().encode(large.slice(offset, offset + 65_536)))
          }
          controller.close()
        },
      }),
    })
    await expectProblem(chunked, 413, 'PAYLOAD_TOO_LARGE')
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', ''])(
    'content type %p is 415',
    async (type) => {
      await expectProblem(await service.attest(good(), { 'content-type': type }), 415, 'UNSUPPORTED_MEDIA_TYPE')
    },
  )

  test('application/json with a charset is fine', async () => {
    const response = await service.attest(good(), { 'content-type': 'application/json; charset=utf-8' })
    expect(response.status).toBe(200)
  })

  test('bytes that are not UTF-8 are 400', async () => {
    const response = await fetch(`${quickstart['ATTESTATION_URL']}/v2/attestation`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': value('ATTESTATION_API_KEY') },
      body: new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    })
    await expectProblem(response, 400, 'MALFORMED_JSON')
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
