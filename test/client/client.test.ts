// The client's requests, its parsing of each response in the spec, and the responses that it rejects.
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
  for (const server of servers.splice(0)) await server[Symbol.asyncDispose]()
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

/** A UUID of version 7 that was created within the last minute. */
const expectTimeOrderedKey = (key: string | null): void => {
  expect(key).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  const createdMs = Number.parseInt((key ?? '').replaceAll('-', '').slice(0, 12), 16)
  expect(Math.abs(Date.now() - createdMs)).toBeLessThan(60_000)
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

  test('sends the fields of the API, the API key, a request id and an idempotency key', async () => {
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
    const headers = ['x-api-key', 'authorization', 'content-type'].map((name) => sent!.headers.get(name))
    expect(headers).toEqual(['csa_test_key', null, 'application/json'])
    expect(sent!.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expectTimeOrderedKey(sent!.headers.get('idempotency-key'))
  })

  test('omits absent fields and sends the idempotency key of the caller', async () => {
    const { server, client } = serving(compliant)
    await client.attest(
      { from: WALLET, chain: 'base', verificationHash: 'x-0123456789abcdef' },
      { idempotencyKey: 'order-7' },
    )
    const [sent] = server.received
    expect(JSON.parse(sent!.body)).toEqual({ from: WALLET, chain: 'base', verification_hash: 'x-0123456789abcdef' })
    expect(sent!.headers.get('idempotency-key')).toBe('order-7')
  })

  test('returns a compliant response with its attestation', async () => {
    expect(await serving(compliant).client.attest(request)).toEqual({
      isCompliant: true,
      policyId: compliant.policy_id,
      policyName: compliant.policy_name,
      verificationHash: compliant.verification_hash,
      requestId: 'server-id',
      attestation: { uuid: UUID, expiration: 1795169702, attester: ATTESTER, signature: SIGNATURE },
    })
  })

  test('returns a denial without an attestation', async () => {
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

  test('ignores unknown fields', async () => {
    expect(await serving({ ...compliant, later: [1] }).client.attest(request)).toMatchObject({ isCompliant: true })
  })

  const { attestation } = compliant
  const withAttestation = (fields: object) => ({ ...compliant, attestation: { ...attestation, ...fields } })
  test.each([
    ['an empty signature', withAttestation({ signature: '' }), 'attestation.signature'],
    ['a short signature', withAttestation({ signature: '0xabcd' }), 'attestation.signature'],
    ['no attester', withAttestation({ attester: '' }), 'attestation.attester'],
    ['an expiration that is text', withAttestation({ expiration: 'soon' }), 'attestation.expiration'],
    ['an expiration before 1970', withAttestation({ expiration: -1 }), 'attestation.expiration'],
    ['an invalid uuid', withAttestation({ uuid: 'x' }), 'attestation.uuid'],
    ['no attestation', { ...compliant, attestation: null }, 'attestation'],
    ['a verdict that is text', { ...compliant, is_compliant: 'true' }, 'is_compliant'],
    ['a reason that is text', { ...denied, reason: 'no' }, 'reason'],
    ['an array', [compliant], 'it'],
    ['null', null, 'it'],
  ])('rejects a response with %s and names the field', async (_, body, field) => {
    const error = (await refusalOf(serving(body).client.attest(request))) as AnswerInvalidError
    expect(error).toBeInstanceOf(AnswerInvalidError)
    expect([error.code, error.requestId]).toEqual(['ANSWER_INVALID', 'server-id'])
    expect(error.message).toContain(`${field} is not`)
  })
})

describe('task', () => {
  test('sends a request of the v1 API and reads its responses', async () => {
    const { server, client } = serving(task)
    const answer = await client.task({ from: WALLET, to: ATTESTER, data: '0x', msgValue: 7n, chainId: 8453 })
    expect([server.received[0]!.path, JSON.parse(server.received[0]!.body)]).toEqual([
      '/v1/task',
      { from: WALLET, to: ATTESTER, data: '0x', msg_value: '7', chain_id: 8453 },
    ])
    expect(answer).toMatchObject({ isCompliant: true, taskId: UUID, signers: task.signers, expiryBlock: 19_000_000 })
    expect(
      await serving(deniedTask).client.task({ from: WALLET, to: ATTESTER, data: '0x', msgValue: 0n }),
    ).toMatchObject({ isCompliant: false, taskId: UUID })
  })

  test('rejects signers without their signatures', async () => {
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
  test('creates a session without a request body', async () => {
    const { server, client } = serving(registered, 201)
    expect(await client.register('individual')).toEqual({ ...registered, reused: false })
    const [sent] = server.received
    expect([sent!.method, sent!.path, sent!.body]).toEqual(['POST', '/identity/api/v1/register/individual', ''])
    const headers = ['authorization', 'x-api-key', 'content-type'].map((name) => sent!.headers.get(name))
    expect(headers).toEqual(['Bearer csi_test_key', null, null])
    expectTimeOrderedKey(sent!.headers.get('idempotency-key'))
  })

  test('sends the given fields, and reports whether an existing session is reused', async () => {
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

  test('refuses invalid sizes and types without a request', async () => {
    const { server, client } = serving(registered)
    for (const size of [79, 2001, 300.5, Number.NaN]) {
      expect(await refusalOf(client.register('individual', { size }))).toBeInstanceOf(ArgumentInvalidError)
    }
    expect(await refusalOf(client.register('person' as 'individual'))).toBeInstanceOf(ArgumentInvalidError)
    expect(server.received).toHaveLength(0)
  })
})

describe('status', () => {
  test('returns pending and completed sessions', async () => {
    const { server, client } = serving(completed)
    expect(await client.status('individual', UUID)).toEqual(completed as never)
    expect(server.received[0]!.path).toBe(`/identity/api/v1/status/individual/${UUID}`)
    expect(server.received[0]!.headers.get('idempotency-key')).toBeNull()
    expect(await serving(pending).client.status('business', UUID)).toEqual(pending as never)
  })

  test('refuses an id that would change the path, and rejects an unknown status', async () => {
    const { server, client } = serving({ ...pending, status: 'done' })
    expect(await refusalOf(client.status('individual', '../verify'))).toBeInstanceOf(ArgumentInvalidError)
    expect(server.received).toHaveLength(0)
    expect(await refusalOf(client.status('individual', UUID))).toBeInstanceOf(AnswerInvalidError)
  })
})

describe('verify', () => {
  test('returns a verified wallet', async () => {
    const { server, client } = serving(verified)
    expect(await client.verify({ address: WALLET, type: 'individual' })).toEqual(verified as never)
    expect(JSON.parse(server.received[0]!.body)).toEqual({ address: WALLET, type: 'individual' })
  })

  test('fills in the short response for an unknown wallet', async () => {
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

describe('errors of refused calls', () => {
  const request = { from: WALLET, to: ATTESTER, chain: 'base' }

  test('contain the code, status, detail and request id of the service', async () => {
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

  test('of a reverse proxy contain the status', async () => {
    const { client } = serve(() => new Response('<html>nginx</html>', { status: 413 }))
    const error = (await refusalOf(client.attest(request))) as RequestRefusedError
    expect([error.code, error.status]).toEqual(['UNKNOWN_REFUSAL', 413])
  })

  test('never contain an API key', async () => {
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
    ['a URL without a scheme', { ...settings, attestationUrl: 'a.example' }, 'attestationUrl'],
    ['a file URL', { ...settings, attestationUrl: 'file:///etc/passwd' }, 'attestationUrl'],
    ['a user in the URL', { ...settings, attestationUrl: 'https://me:pw@a.example' }, 'attestationUrl'],
    ['a query in the URL', { ...settings, attestationUrl: 'https://a.example?x=1' }, 'attestationUrl'],
    ['a key with a line break', { ...settings, attestationApiKey: 'csa_live_x\n' }, 'attestationApiKey'],
    ['an empty key', { ...settings, attestationApiKey: '' }, 'attestationApiKey'],
    ['a timeout of 0', { ...settings, timeoutMs: 0 }, 'timeoutMs'],
    ['0 attempts', { ...settings, retry: { tries: 0 } }, 'retry.tries'],
    ['a fraction of a millisecond', { ...settings, retry: { baseDelayMs: 0.5 } }, 'retry.baseDelayMs'],
  ])('refuses %s', (_, options, argument) => {
    const attempt = () => createCountersignClient(options)
    expect(attempt).toThrow(ArgumentInvalidError)
    expect(attempt).toThrow(argument)
    expect(attempt).not.toThrow('csa_live_x')
  })

  test('accepts the URL of one API, and rejects calls to the other API', async () => {
    const client = createCountersignClient(settings)
    expect(await refusalOf(client.verify({ address: WALLET }))).toBeInstanceOf(ArgumentInvalidError)
    expect(() => client.follow('individual', UUID)).toThrow('identityUrl')
  })

  test('refuses idempotency keys that are invalid in a header', async () => {
    const { server, client } = serving(compliant)
    for (const idempotencyKey of ['', 'a b', 'é', 'x'.repeat(256)]) {
      const call = client.attest({ from: WALLET, to: ATTESTER, chain: 'base' }, { idempotencyKey })
      expect(await refusalOf(call)).toBeInstanceOf(ArgumentInvalidError)
    }
    expect(server.received).toHaveLength(0)
  })
})

test.each([undefined, null, 'https://attest.example.com'])(
  'a client with the options %p reports the required form',
  (options) => {
    const make = (): unknown => createCountersignClient(options as never)
    expect(make).toThrow(ArgumentInvalidError)
    expect(make).toThrow('must be an object with attestationUrl, identityUrl, or both')
  },
)
