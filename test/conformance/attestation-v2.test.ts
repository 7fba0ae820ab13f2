// The v2 attestation API of a running service, line by line of the specification. Errors: errors.test.ts.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash, createPublicKey, verify } from 'node:crypto'
import bs58 from 'bs58'
import { encodeAbiParameters, type Hex, keccak256, recoverAddress, toBytes } from 'viem'
import { BUILT_IN_CHAINS } from '../../src/domain/chain.ts'
import { projectRequest, WALLET } from '../service/calls.ts'
import { type RunningService, startService } from '../service/start-service.ts'

const SOLANA_WALLET = bs58.encode(createHash('sha256').update('countersign test wallet 1').digest())
const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const ZERO = '0x0000000000000000000000000000000000000000'

interface AttestationResponse {
  policy_id: string
  policy_name: string
  verification_hash: string
  is_compliant: boolean
  attestation: { uuid: string; expiration: number; attester: string; signature: Hex }
  reason?: { code: string; message: string }
}

interface Statement {
  readonly chainId: number
  readonly from: string
  readonly to: string
  readonly value: bigint
  readonly data: Hex
  readonly policy: string
}

let service: RunningService
let quickstart: Readonly<Record<string, string>>
const setting = (name: string): string => quickstart[name] ?? ''

const project = () => projectRequest(service)
const attest = async (body: Record<string, unknown>): Promise<AttestationResponse> => {
  const response = await service.attest(body)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/json')
  return (await response.json()) as AttestationResponse
}

/** Computes the digest with viem, independently of the service. */
const evmDigest = (
  { chainId, from, to, value, data, policy }: Statement,
  { uuid, expiration }: AttestationResponse['attestation'],
): Hex =>
  keccak256(
    encodeAbiParameters(
      ['uint256', 'string', 'address', 'address', 'uint256', 'bytes', 'string', 'uint256'].map((type) => ({ type })),
      [BigInt(chainId), uuid, from, to, value, data, policy, BigInt(expiration)],
    ),
  )

const expectEvmSignature = async (changes: Partial<Statement>, answer: AttestationResponse): Promise<void> => {
  const policy = setting('VERIFICATION_HASH')
  const statement = { chainId: 8453, from: WALLET, to: ZERO, value: 0n, data: '0x', policy, ...changes } as const
  const { signature, attester } = answer.attestation
  expect(signature).toMatch(/^0x[0-9a-f]{130}$/)
  expect<string>(await recoverAddress({ hash: evmDigest(statement, answer.attestation), signature })).toBe(attester)
  expect(attester).toBe(setting('EVM_ATTESTER'))
}

const expectSolanaSignature = (statement: Omit<Statement, 'chainId'>, { attestation }: AttestationResponse): void => {
  const sha256 = (bytes: Uint8Array | string): Buffer => createHash('sha256').update(bytes).digest()
  const lamports = Buffer.alloc(8)
  lamports.writeBigUInt64LE(statement.value)
  const expiration = Buffer.alloc(8)
  expiration.writeBigInt64LE(BigInt(attestation.expiration))
  const layout = Buffer.concat([
    Buffer.from('predicate_solana_attestation'),
    Buffer.from(attestation.uuid.replaceAll('-', ''), 'hex'),
    bs58.decode(statement.from),
    bs58.decode(statement.to),
    lamports,
    sha256(toBytes(statement.data)),
    sha256(statement.policy),
    expiration,
  ])
  expect(layout).toHaveLength(188)
  const publicKey = createPublicKey({
    key: Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), bs58.decode(attestation.attester)]),
    format: 'der',
    type: 'spki',
  })
  expect(attestation.signature).toMatch(/^0x[0-9a-f]{128}$/)
  expect(verify(null, sha256(layout), publicKey, toBytes(attestation.signature))).toBe(true)
  expect(attestation.attester).toBe(setting('SOLANA_ATTESTER'))
}

beforeAll(async () => {
  service = await startService({ environment: { COUNTERSIGN_WORKERS: '2' } })
  quickstart = service.quickstart
})
afterAll(async () => {
  await service.stop()
})

describe('the response', () => {
  test('has every field of the specification, and no reason if it is compliant', async () => {
    const answer = await attest(project())
    expect(Object.keys(answer)).toEqual('policy_id policy_name verification_hash is_compliant attestation'.split(' '))
    expect(Object.keys(answer.attestation)).toEqual(['uuid', 'expiration', 'attester', 'signature'])
    expect(answer.policy_id).toMatch(/^policy_[0-9A-Za-z]{16}$/)
    const ids = { policy_id: setting('POLICY_ID'), verification_hash: setting('VERIFICATION_HASH') }
    expect(answer).toMatchObject({ ...ids, is_compliant: true, attestation: { uuid: expect.stringMatching(UUID_V4) } })
  })

  test('expires 300 seconds after the request by default', async () => {
    const before = Math.floor(Date.now() / 1000)
    const answer = await attest(project())
    const after = Math.floor(Date.now() / 1000)
    expect(answer.attestation.expiration).toBeGreaterThanOrEqual(before + 300)
    expect(answer.attestation.expiration).toBeLessThanOrEqual(after + 300)
  })

  test('never repeats a uuid', async () => {
    const answers = await Promise.all(Array.from({ length: 200 }, () => attest(project())))
    expect(new Set(answers.map((answer) => answer.attestation.uuid)).size).toBe(200)
  })

  test('for a denied wallet is a 200 with uuid, expiration 0, empty attester and signature, and the reason', async () => {
    const from = '0x000000000000000000000000000000000000DEAD'
    const answer = await attest({ ...project(), from, chain: 'ethereum' })
    expect(answer.attestation).toEqual({
      uuid: expect.stringMatching(UUID_V4),
      expiration: 0,
      attester: '',
      signature: '' as Hex,
    })
    const reason = { code: 'DEMO_DENIED', message: expect.stringMatching(/./) }
    expect(answer).toMatchObject({ is_compliant: false, reason })
  })
})

describe('chains', () => {
  for (const chain of BUILT_IN_CHAINS) {
    if (chain.family !== 'evm') continue
    const { name, chainId } = chain
    test(`${name}: a project request signs the zero address, and a contract request its contract, value and data`, async () => {
      await expectEvmSignature({ chainId }, await attest({ ...project(), chain: name }))
      const call = { to: setting('DEMO_CONTRACT'), data: '0xA9059CBB' } as const
      const answer = await attest({ from: WALLET, chain: name, ...call, msg_value: '1000000000000000000' })
      await expectEvmSignature({ chainId, ...call, value: 10n ** 18n }, answer)
    })
  }

  test('solana: a project request signs 32 zero bytes, and a call its program, lamports and data', async () => {
    const policy = setting('VERIFICATION_HASH')
    const request = { from: SOLANA_WALLET, chain: 'solana' }
    const zero = bs58.encode(new Uint8Array(32))
    const answer = await attest({ ...request, verification_hash: policy })
    expectSolanaSignature({ from: SOLANA_WALLET, to: zero, value: 0n, data: '0x', policy }, answer)
    const call = { to: setting('DEMO_PROGRAM'), data: '0x0102030405060708ff' } as const
    const called = await attest({ ...request, ...call, msg_value: '18446744073709551615' })
    expectSolanaSignature({ from: SOLANA_WALLET, ...call, value: 2n ** 64n - 1n, policy }, called)
  })
})

describe('the request', () => {
  test('on_behalf is not signed', async () => {
    const to = setting('DEMO_CONTRACT')
    const answer = await attest({ from: WALLET, chain: 'base', to, on_behalf: `0x${'c3'.repeat(20)}` })
    await expectEvmSignature({ to }, answer)
  })

  test('BasicPolicyClient: to, from and chain suffice, and value 0 and empty data are signed', async () => {
    const answer = await attest({ from: WALLET, chain: 'sepolia', to: setting('DEMO_CONTRACT').toLowerCase() })
    await expectEvmSignature({ chainId: 11155111, to: setting('DEMO_CONTRACT') }, answer)
  })

  test('64 KiB of data and the largest value are signed', async () => {
    const data: Hex = `0x${'ab'.repeat(65536)}`
    const largest = 2n ** 256n - 1n
    const call = { to: setting('DEMO_CONTRACT'), data }
    const answer = await attest({ from: WALLET, chain: 'base', ...call, msg_value: largest.toString() })
    await expectEvmSignature({ ...call, value: largest }, answer)
  })

  test('X-Request-Id is returned, or replaced if it is invalid', async () => {
    const body = project()
    const own = await service.attest(body, { 'x-request-id': 'trade-42' })
    expect(own.headers.get('x-request-id')).toBe('trade-42')
    const made = await service.attest(body, { 'x-request-id': 'x'.repeat(129) })
    expect(made.headers.get('x-request-id')).toMatch(/^[\x21-\x7e]{1,128}$/)
    expect(made.headers.get('x-request-id')).not.toContain('xxxxxxxxx')
  })

  test('an Idempotency-Key returns the same response to the same request, and 422 to a different request', async () => {
    const body = project()
    const headers = { 'idempotency-key': 'order-7' }
    const first = await (await service.attest(body, headers)).json()
    const second = await (await service.attest(body, headers)).json()
    expect(second).toEqual(first)
    const other = await service.attest({ ...body, chain: 'bsc' }, headers)
    expect(other.status).toBe(422)
  })

  test('the quick start key has no rate limit, and responses have no CORS header', async () => {
    const response = await service.attest(project())
    expect(response.headers.get('ratelimit-limit')).toBeNull()
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  })
})
