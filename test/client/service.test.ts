// The client against the running service: each call, its errors, and its attestations checked offline.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { AttestationRequest, CompliantAnswer } from '../../src/client/attestation-types.ts'
import { type CountersignClient, createCountersignClient } from '../../src/client/client.ts'
import { RequestRefusedError } from '../../src/client/errors.ts'
import { evmAttestedCall } from '../../src/client/evm-arguments.ts'
import { verifyEvmAttestation } from '../../src/client/evm-attestation.ts'
import { EVM_CHAIN_IDS } from '../../src/client/evm-chains.ts'
import { solanaAttestedCall, verifySolanaAttestation } from '../../src/client/solana-attestation.ts'
import { type RunningService, runCommand, startService } from '../service/start-service.ts'

const UNKNOWN_SESSION = '0f9a4a1e-7b1c-4d4e-9a53-3c8f2f2f3b10'
const WALLET = '0x1111111111111111111111111111111111111111'
const DENIED_WALLET = '0x000000000000000000000000000000000000dEaD'
const SOLANA_WALLET = 'GjXtvmWihnf22Bg48srpzYrs6iGhSUvu1tzsf9L4u9Ck'

let service: RunningService
let client: CountersignClient
let settings: Readonly<Record<string, string>>

beforeAll(async () => {
  service = await startService({ environment: { COUNTERSIGN_WORKERS: '1' } })
  settings = service.quickstart
  client = createCountersignClient({
    attestationUrl: settings['ATTESTATION_URL'],
    attestationApiKey: settings['ATTESTATION_API_KEY'],
    identityUrl: settings['IDENTITY_URL'],
    identityApiKey: settings['IDENTITY_API_KEY'],
    retry: { tries: 1 },
  })
})
afterAll(async () => {
  await service.stop()
})

const attest = async (request: AttestationRequest): Promise<CompliantAnswer> => {
  const answer = await client.attest(request)
  if (!answer.isCompliant) throw new Error('denied')
  return answer
}
const refusal = async (call: Promise<unknown>): Promise<RequestRefusedError> => {
  const error: unknown = await call.then(
    () => null,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(RequestRefusedError)
  return error as RequestRefusedError
}

describe('attest', () => {
  test('on every EVM chain gives what verifies offline, for a contract and for a project', async () => {
    for (const chain of Object.keys(EVM_CHAIN_IDS)) {
      for (const request of [
        { chain, from: WALLET, to: settings['DEMO_CONTRACT'] ?? '', data: '0xa9059cbb', msgValue: 10n ** 18n },
        { chain, from: WALLET, verificationHash: settings['VERIFICATION_HASH'] ?? '' },
      ]) {
        const answer = await attest(request)
        const call = evmAttestedCall(request, answer)
        expect(answer.attestation.attester).toBe(settings['EVM_ATTESTER'] ?? '')
        expect(await verifyEvmAttestation(call, answer.attestation)).toBe(true)
        expect(await verifyEvmAttestation({ ...call, wei: 1n }, answer.attestation)).toBe(false)
      }
    }
  })

  test('on Solana gives what verifies offline, for a program and for a project', async () => {
    for (const request of [
      { chain: 'solana', from: SOLANA_WALLET, to: settings['DEMO_PROGRAM'] ?? '', data: '0x07', msgValue: 5n },
      { chain: 'solana', from: SOLANA_WALLET, verificationHash: settings['VERIFICATION_HASH'] ?? '' },
    ]) {
      const answer = await attest(request)
      const call = solanaAttestedCall(request, answer)
      expect(answer.attestation.attester).toBe(settings['SOLANA_ATTESTER'] ?? '')
      expect(verifySolanaAttestation(call, answer.attestation)).toBe(true)
      expect(verifySolanaAttestation({ ...call, lamports: 6n }, answer.attestation)).toBe(false)
    }
  })

  test('of many gives each its own result, and the same ones when it is repeated', async () => {
    const verificationHash = settings['VERIFICATION_HASH'] ?? ''
    const requests: AttestationRequest[] = [
      { chain: 'base', from: WALLET, to: settings['DEMO_CONTRACT'] ?? '', data: '0xa9059cbb', msgValue: 7n },
      { chain: 'base', from: DENIED_WALLET, verificationHash },
      { chain: 'nowhere', from: WALLET, verificationHash },
      { chain: 'solana', from: SOLANA_WALLET, verificationHash },
    ]
    const ask = () => client.attestMany(requests, { idempotencyKey: 'a-list-of-four' })
    const [call, denied, refused, solana] = await ask()
    if (!call?.ok || !call.answer.isCompliant || !solana?.ok || !solana.answer.isCompliant) throw new Error('denied')
    const [request, , , solanaRequest] = requests as [AttestationRequest, ...AttestationRequest[]]
    expect(await verifyEvmAttestation(evmAttestedCall(request, call.answer), call.answer.attestation)).toBe(true)
    const program = solanaAttestedCall(solanaRequest as AttestationRequest, solana.answer)
    expect(verifySolanaAttestation(program, solana.answer.attestation)).toBe(true)
    expect(denied).toMatchObject({ ok: true, answer: { isCompliant: false, reason: { code: 'DEMO_DENIED' } } })
    expect(refused).toMatchObject({ ok: false, error: { code: 'UNSUPPORTED_CHAIN', status: 400 } })
    const again = await ask()
    expect(again.map((result) => result.ok && result.answer)).toMatchObject([
      { attestation: call.answer.attestation },
      { isCompliant: false },
      false,
      { attestation: solana.answer.attestation },
    ])
  })

  test('gives a denial with the policy’s own words', async () => {
    const verificationHash = settings['VERIFICATION_HASH'] ?? ''
    expect(await client.attest({ chain: 'base', from: DENIED_WALLET, verificationHash })).toMatchObject({
      isCompliant: false,
      policyId: settings['POLICY_ID'],
      verificationHash,
      reason: { code: 'DEMO_DENIED' },
    })
  })

  test('gives the same answer for the same idempotency key, and refuses it for another request', async () => {
    const request = { chain: 'base', from: WALLET, to: settings['DEMO_CONTRACT'] ?? '' }
    const first = await client.attest(request, { idempotencyKey: 'order-7' })
    const { requestId: _, ...again } = await client.attest(request, { idempotencyKey: 'order-7' })
    expect(first).toMatchObject(again)
    const other = client.attest({ ...request, chain: 'ethereum' }, { idempotencyKey: 'order-7' })
    expect((await refusal(other)).code).toBe('IDEMPOTENCY_MISMATCH')
  })

  test('refusals have the service’s code, text and request id', async () => {
    const unbound = await refusal(client.attest({ chain: 'base', from: WALLET, to: WALLET }))
    expect([unbound.code, unbound.status]).toEqual(['POLICY_NOT_FOUND', 400])
    expect(unbound.detail).toBe(`request validation failed: failed to get policy ID for address ${WALLET}`)
    const unsupported = await refusal(client.attest({ chain: 'dogechain', from: WALLET, to: WALLET }))
    expect(unsupported.detail).toBe('unsupported chain ID dogechain')
    expect(unsupported.requestId).toMatch(/^[0-9a-f-]{36}$/)
    const negative = client.attest({ chain: 'base', from: WALLET, to: WALLET, msgValue: -1n })
    expect((await refusal(negative)).code).toBe('INVALID_FIELD')
  })

  test('with a key that does not work is unauthenticated', async () => {
    const stranger = createCountersignClient({
      attestationUrl: settings['ATTESTATION_URL'],
      attestationApiKey: settings['IDENTITY_API_KEY'],
    })
    const request = { chain: 'base', from: WALLET, to: settings['DEMO_CONTRACT'] ?? '' }
    expect((await refusal(stranger.attest(request))).code).toBe('FORBIDDEN_SCOPE')
  })
})

test('task gives as many signatures as the policy asks for', async () => {
  const request = { from: WALLET, to: settings['DEMO_CONTRACT'] ?? '', data: '0x', msgValue: 0n, chainId: 8453 }
  expect(await client.task(request)).toMatchObject({ isCompliant: true, signers: [settings['EVM_ATTESTER'] ?? ''] })
  expect(await client.task({ ...request, from: DENIED_WALLET })).toMatchObject({ isCompliant: false })
})

describe('identity', () => {
  /** With a test key: its sessions can be completed without a person. */
  let sandbox: CountersignClient
  beforeAll(async () => {
    const words = ['keys', 'issue', '--org', 'demo', '--kind', 'identity', '--name', 'sandbox', '--test', '--json']
    const { code, stdout, stderr } = await runCommand(service.dataDirectory, ...words)
    expect([code, stderr]).toEqual([0, ''])
    const { key } = JSON.parse(stdout) as { key: string }
    sandbox = createCountersignClient({ identityUrl: settings['IDENTITY_URL'], identityApiKey: key })
  })

  test('a session is registered, used again, and read', async () => {
    const first = await client.register('business', {
      walletAddress: WALLET,
      originUrl: 'https://shop.example/',
      size: 200,
    })
    expect(first.reused).toBe(false)
    expect(first.redirectUrl.startsWith(settings['PORTAL_URL'] ?? '-')).toBe(true)
    const again = await client.register('business', { walletAddress: WALLET })
    expect(again).toMatchObject({ sessionId: first.sessionId, reused: true })
    expect(await client.status('business', first.sessionId)).toEqual({
      sessionId: first.sessionId,
      status: 'pending',
      verifiedWallets: [],
      unverifiedWallets: [],
    })
    expect(await client.verify({ address: WALLET })).toMatchObject({ address: WALLET, verified: false })
  })

  test('a call repeated under its idempotency key makes one session', async () => {
    const [first, second] = [
      await client.register('individual', {}, { idempotencyKey: 'user-7' }),
      await client.register('individual', {}, { idempotencyKey: 'user-7' }),
    ]
    expect(second.sessionId).toBe(first.sessionId)
  })

  test('follow tells each status as an operator decides, up to the last', async () => {
    const { sessionId } = await client.register('individual')
    const decide = async (outcome: string): Promise<void> => {
      const { code, stderr } = await runCommand(
        service.dataDirectory,
        'session',
        'decide',
        sessionId,
        outcome,
        '--note',
        'A test.',
      )
      expect([code, stderr]).toEqual([0, ''])
    }
    const told: string[] = []
    for await (const { status } of client.follow('individual', sessionId)) {
      told.push(status)
      if (status === 'pending') await decide('retry')
      if (status === 'retry') await decide('completed')
    }
    expect(told).toEqual(['pending', 'retry', 'completed'])
    expect(await client.status('individual', sessionId)).toMatchObject({ status: 'completed' })
  })

  test('a wallet of a completed session is verified', async () => {
    const { sessionId } = await sandbox.register('individual', { walletAddress: WALLET, sandboxOutcome: 'completed' })
    const state = await sandbox.status('individual', sessionId)
    expect(state).toMatchObject({
      status: 'completed',
      verifiedWallets: [{ chain: 'ethereum' }],
      unverifiedWallets: [],
    })
    const verification = await sandbox.verify({ address: WALLET, type: 'individual' })
    expect(verification).toMatchObject({
      verified: true,
      status: 'completed',
      userId: state.userId ?? '',
      checkType: 'kyc',
      verifiedAt: state.completedAt ?? '',
    })
    expect(verification.wallets).toHaveLength(1)
    expect(await client.verify({ address: WALLET })).toMatchObject({ verified: false })
  })

  test('refusals: an unknown session, a bad address, a key of the other interface', async () => {
    expect((await refusal(client.status('individual', UNKNOWN_SESSION))).code).toBe('NOT_FOUND')
    const following = client.follow('individual', UNKNOWN_SESSION).next()
    expect((await refusal(following)).code).toBe('NOT_FOUND')
    expect((await refusal(client.verify({ address: 'nobody' }))).status).toBe(400)
    const stranger = createCountersignClient({
      identityUrl: settings['IDENTITY_URL'],
      identityApiKey: settings['ATTESTATION_API_KEY'],
    })
    expect((await refusal(stranger.verify({ address: WALLET }))).status).toBe(403)
  })
})
