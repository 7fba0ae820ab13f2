// The client against a server that answers as the spec shows: what it sends, what it makes of each answer, and what it
// refuses to take for one.
import { afterEach, describe, expect, test } from 'bun:test'
import { type CountersignClient, createCountersignClient } from '../../src/client/client.ts'
import { AnswerInvalidError, ArgumentInvalidError, RequestRefusedError } from '../../src/client/errors.ts'
import {
  ATTESTER,
  completed,
  compliant,
  denied,
  deniedTask,
  pending,
  registered,
  SIGNATURE,
  task,
  UUID,
  verified,
  WALLET,
} from './support/answers.ts'
import { json, problem, type RecordingServer, startRecordingServer } from './support/recording-server.ts'

const servers: RecordingServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop()
})

const serve = (
  answer: Parameters<typeof startRecordingServer>[0],
): { server: RecordingServer; client: CountersignClient } => {
  const server = startRecordingServer(answer)
  servers.push(server)
  const client = createCountersignClient({
    attestationUrl: `${server.url}/`,
    attestationApiKey: 'csa_test_key',
    identityUrl: `${server.url}/identity`,
    identityApiKey: 'csi_test_key',
    retry: { tries: 1 },
  })
  return { server, client }
}
const serving = (body: unknown, status = 200) => serve(() => json(body, status, { 'x-request-id': 'server-id' }))
const refusalOf = async (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => expect.unreachable(),
    (error: unknown) => error,
  )

/** A UUID of version 7 that was made within the last minute. */
const expectTimeOrderedKey = (key: string | null): void => {
  expect(key).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  const madeMs = Number.parseInt((key ?? '').replaceAll('-', '').slice(0, 12), 16)
  expect(Math.abs(Date.now() - madeMs)).toBeLessThan(60_000)
}

describe('attest', () => {
  const request = {
    from: WALLET,
    to: ATTESTER,
    chain: 'base',
    data: '0xa9059cbb',
    msgValue: 2n ** 200n,
    userIp: '203.0.113.7',
  }

  test('sends the wire’s fields with the key, the request id and an idempotency key', async () => {
    const { server, client } = serving(compliant)
    await client.attest(request)
    const [sent] = server.received
    expect([sent!.method, sent!.path]).toEqual(['POST', '/v2/attestation'])
    expect(JSON.parse(sent!.body)).toEqual({
      from: WALLET,
      to: ATTESTER,
      chain: 'base',
      data: '0xa9059cbb',
      msg_value: (2n ** 200n).toString(),
      user_ip: '203.0.113.7',
    })
    expect(sent!.headers.get('x-api-key')).toBe('csa_test_key')
    expect(sent!.headers.get('authorization')).toBeNull()
    expect(sent!.headers.get('content-type')).toBe('application/json')
    expect(sent!.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expectTimeOrderedKey(sent!.headers.get('idempotency-key'))
  })

  test('leaves out what is not given', async () => {
    const { server, client } = serving(compliant)
    await client.attest(
      { from: WALLET, chain: 'base', verificationHash: 'x-0123456789abcdef' },
      { idempotencyKey: 'order-7' },
    )
    const [sent] = server.received
    expect(JSON.parse(sent!.body)).toEqual({ from: WALLET, chain: 'base', verification_hash: 'x-0123456789abcdef' })
    expect(sent!.headers.get('idempotency-key')).toBe('order-7')
  })

  test('gives a compliant answer with its attestation', async () => {
    expect(await serving(compliant).client.attest(request)).toEqual({
      isCompliant: true,
      policyId: compliant.policy_id,
      policyName: compliant.policy_name,
      verificationHash: compliant.verification_hash,
      requestId: 'server-id',
      attestation: { uuid: UUID, expiration: 1795169702, attester: ATTESTER, signature: SIGNATURE },
    })
  })

  test('gives a denial without anything to submit', async () => {
    const answer = await serving(denied).client.attest(request)
    expect(answer).toEqual({
      isCompliant: false,
      policyId: denied.policy_id,
      policyName: denied.policy_name,
      verificationHash: denied.verification_hash,
      requestId: 'server-id',
      uuid: UUID,
      reason: { code: 'DEMO_DENIED', message: 'This wallet is denied.' },
    })
    const { reason: _, ...silent } = denied
    expect(await serving(silent).client.attest(request)).toMatchObject({ isCompliant: false, reason: null })
  })

  test('ignores fields that it does not know', async () => {
    expect(await serving({ ...compliant, later: [1] }).client.attest(request)).toMatchObject({ isCompliant: true })
  })

  const { attestation } = compliant
  test.each([
    ['an empty signature', { ...compliant, attestation: { ...attestation, signature: '' } }, 'attestation.signature'],
    [
      'a short signature',
      { ...compliant, attestation: { ...attestation, signature: '0xabcd' } },
      'attestation.signature',
    ],
    ['no attester', { ...compliant, attestation: { ...attestation, attester: '' } }, 'attestation.attester'],
    [
      'an expiration in words',
      { ...compliant, attestation: { ...attestation, expiration: 'soon' } },
      'attestation.expiration',
    ],
    [
      'an expiration before 1970',
      { ...compliant, attestation: { ...attestation, expiration: -1 } },
      'attestation.expiration',
    ],
    ['another uuid', { ...compliant, attestation: { ...attestation, uuid: 'x' } }, 'attestation.uuid'],
    ['no attestation', { ...compliant, attestation: null }, 'attestation'],
    ['a verdict in words', { ...compliant, is_compliant: 'true' }, 'is_compliant'],
    ['a reason in words', { ...denied, reason: 'no' }, 'reason'],
    ['a list', [compliant], 'it'],
    ['nothing', null, 'it'],
  ])('refuses %s, naming the field', async (_, body, field) => {
    const error = (await refusalOf(serving(body).client.attest(request))) as AnswerInvalidError
    expect(error).toBeInstanceOf(AnswerInvalidError)
    expect([error.code, error.requestId]).toEqual(['ANSWER_INVALID', 'server-id'])
    expect(error.message).toContain(`${field} is not`)
  })

  test('refuses what is not JSON, and a redirect, which it does not follow', async () => {
    const words = serve(() => new Response('<html>'))
    expect(await refusalOf(words.client.attest(request))).toBeInstanceOf(AnswerInvalidError)
    const moved = serve(() => new Response(null, { status: 307, headers: { location: '/elsewhere' } }))
    expect(await refusalOf(moved.client.attest(request))).toBeInstanceOf(AnswerInvalidError)
    expect(moved.server.received).toHaveLength(1)
  })
})

describe('task', () => {
  test('sends and reads the older form', async () => {
    const { server, client } = serving(task)
    const answer = await client.task({ from: WALLET, to: ATTESTER, data: '0x', msgValue: 7n, chainId: 8453 })
    expect([server.received[0]!.path, JSON.parse(server.received[0]!.body)]).toEqual([
      '/v1/task',
      { from: WALLET, to: ATTESTER, data: '0x', msg_value: '7', chain_id: 8453 },
    ])
    expect(answer).toMatchObject({ isCompliant: true, taskId: UUID, signers: task.signers, expiryBlock: 19_000_000 })
    expect(
      await serving(deniedTask).client.task({ from: WALLET, to: ATTESTER, data: '0x', msgValue: 0n }),
    ).toMatchObject({
      isCompliant: false,
      taskId: UUID,
    })
  })

  test('refuses signers without their signatures', async () => {
    const request = { from: WALLET, to: ATTESTER, data: '0x', msgValue: 0n }
    for (const body of [
      { ...task, signature: [SIGNATURE] },
      { ...task, signers: [], signature: [] },
    ]) {
      expect(await refusalOf(serving(body).client.task(request))).toBeInstanceOf(AnswerInvalidError)
    }
  })
})

describe('register', () => {
  test('creates a session without a body', async () => {
    const { server, client } = serving(registered, 201)
    expect(await client.register('individual')).toEqual({ ...registered, reused: false })
    const [sent] = server.received
    expect([sent!.method, sent!.path, sent!.body]).toEqual(['POST', '/identity/api/v1/register/individual', ''])
    expect(sent!.headers.get('authorization')).toBe('Bearer csi_test_key')
    expect(sent!.headers.get('x-api-key')).toBeNull()
    expect(sent!.headers.get('content-type')).toBeNull()
    expectTimeOrderedKey(sent!.headers.get('idempotency-key'))
  })

  test('sends what it is given, and says when a session was used again', async () => {
    const { server, client } = serving(registered, 200)
    const answer = await client.register('business', {
      walletAddress: WALLET,
      originUrl: 'https://shop.example',
      size: 512,
    })
    expect(answer.reused).toBe(true)
    expect(server.received[0]!.path).toBe('/identity/api/v1/register/business?size=512')
    expect(JSON.parse(server.received[0]!.body)).toEqual({ walletAddress: WALLET, originUrl: 'https://shop.example' })
  })

  test('refuses sizes and types that do not exist, without asking', async () => {
    const { server, client } = serving(registered)
    for (const size of [79, 2001, 300.5, Number.NaN]) {
      expect(await refusalOf(client.register('individual', { size }))).toBeInstanceOf(ArgumentInvalidError)
    }
    expect(await refusalOf(client.register('person' as 'individual'))).toBeInstanceOf(ArgumentInvalidError)
    expect(server.received).toHaveLength(0)
  })
})

describe('status', () => {
  test('reads pending and completed sessions', async () => {
    const { server, client } = serving(completed)
    expect(await client.status('individual', UUID)).toEqual(completed as never)
    expect(server.received[0]!.path).toBe(`/identity/api/v1/status/individual/${UUID}`)
    expect(server.received[0]!.headers.get('idempotency-key')).toBeNull()
    expect(await serving(pending).client.status('business', UUID)).toEqual(pending as never)
  })

  test('refuses an id that would name another path, and a status that does not exist', async () => {
    const { server, client } = serving({ ...pending, status: 'done' })
    expect(await refusalOf(client.status('individual', '../verify'))).toBeInstanceOf(ArgumentInvalidError)
    expect(server.received).toHaveLength(0)
    expect(await refusalOf(client.status('individual', UUID))).toBeInstanceOf(AnswerInvalidError)
  })
})

describe('verify', () => {
  test('reads a verified wallet', async () => {
    const { server, client } = serving(verified)
    expect(await client.verify({ address: WALLET, type: 'individual' })).toEqual(verified as never)
    expect(JSON.parse(server.received[0]!.body)).toEqual({ address: WALLET, type: 'individual' })
  })

  test('fills up the short form of an unknown wallet', async () => {
    expect(await serving({ address: WALLET, verified: false }).client.verify({ address: WALLET })).toEqual({
      address: WALLET,
      verified: false,
      status: null,
      userId: null,
      checkType: null,
      verifiedAt: null,
      wallets: [],
    })
  })
})

describe('refusals', () => {
  const request = { from: WALLET, to: ATTESTER, chain: 'base' }

  test('carry code, status, detail and the service’s request id', async () => {
    const { client } = serve(() => problem(400, 'POLICY_NOT_FOUND'))
    const error = (await refusalOf(client.attest(request))) as RequestRefusedError
    expect(error).toBeInstanceOf(RequestRefusedError)
    expect(error).toMatchObject({
      name: 'RequestRefusedError',
      code: 'POLICY_NOT_FOUND',
      status: 400,
      detail: 'detail of POLICY_NOT_FOUND',
      requestId: 'server-id',
      retryAfterSeconds: null,
    })
    expect(error.message).toContain('server-id')
  })

  test('of something in between still say the status', async () => {
    const { client } = serve(() => new Response('<html>nginx</html>', { status: 413 }))
    const error = (await refusalOf(client.attest(request))) as RequestRefusedError
    expect([error.code, error.status]).toEqual(['UNKNOWN_REFUSAL', 413])
  })

  test('never hold a key', async () => {
    for (const status of [401, 500]) {
      const error = (await refusalOf(serve(() => problem(status, 'X')).client.attest(request))) as Error
      expect(Bun.inspect(error)).not.toContain('csa_test_key')
    }
  })
})

describe('createCountersignClient', () => {
  const settings = { attestationUrl: 'https://a.example', attestationApiKey: 'csa_live_x' }

  test.each([
    ['a URL without a key', { attestationUrl: 'https://a.example' }, 'attestationApiKey'],
    ['a key without a URL', { identityApiKey: 'csi_live_x' }, 'identityUrl'],
    ['no URL at all', { ...settings, attestationUrl: 'a.example' }, 'attestationUrl'],
    ['a file', { ...settings, attestationUrl: 'file:///etc/passwd' }, 'attestationUrl'],
    ['a user in the URL', { ...settings, attestationUrl: 'https://me:pw@a.example' }, 'attestationUrl'],
    ['a query in the URL', { ...settings, attestationUrl: 'https://a.example?x=1' }, 'attestationUrl'],
    ['a key with a line break', { ...settings, attestationApiKey: 'csa_live_x\n' }, 'attestationApiKey'],
    ['an empty key', { ...settings, attestationApiKey: '' }, 'attestationApiKey'],
    ['no time', { ...settings, timeoutMs: 0 }, 'timeoutMs'],
    ['no try', { ...settings, retry: { tries: 0 } }, 'retry.tries'],
    ['half a millisecond', { ...settings, retry: { baseDelayMs: 0.5 } }, 'retry.baseDelayMs'],
  ])('refuses %s', (_, options, argument) => {
    const attempt = () => createCountersignClient(options)
    expect(attempt).toThrow(ArgumentInvalidError)
    expect(attempt).toThrow(argument)
    expect(attempt).not.toThrow('csa_live_x')
  })

  test('lets an interface be left out, and says so when it is used', async () => {
    const client = createCountersignClient(settings)
    expect(await refusalOf(client.verify({ address: WALLET }))).toBeInstanceOf(ArgumentInvalidError)
    expect(() => client.follow('individual', UUID)).toThrow('identityUrl')
  })

  test('refuses an idempotency key that no header can carry', async () => {
    const { server, client } = serving(compliant)
    for (const idempotencyKey of ['', 'a b', 'é', 'x'.repeat(256)]) {
      const call = client.attest({ from: WALLET, to: ATTESTER, chain: 'base' }, { idempotencyKey })
      expect(await refusalOf(call)).toBeInstanceOf(ArgumentInvalidError)
    }
    expect(server.received).toHaveLength(0)
  })
})

test.each([
  ['nothing', undefined],
  ['null', null],
  ['a text', 'https://attest.example.com'],
])('a client made with %s, as JavaScript allows, says what it needs', (_what, options) => {
  const make = (): unknown => createCountersignClient(options as never)
  expect(make).toThrow(ArgumentInvalidError)
  expect(make).toThrow('must be an object with attestationUrl, identityUrl, or both')
})
