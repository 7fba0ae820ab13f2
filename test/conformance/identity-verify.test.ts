// The verification of a wallet in the identity API (B4), line by line of the specification.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { succeed } from '../service/calls.ts'
import { type RunningService, startService } from '../service/start-service.ts'
import { until } from '../support/until.ts'
import { type Caller, createCaller, createTenant, decide, expectProblem, walletOf } from './identity-caller.ts'

const OUTCOME = 'countersign-sandbox-outcome'
const SOLANA = 'DeZVDBizsEVYvCDyLDLU8MPgE6ndYE2dDA1MXaL2neJC'

let service: RunningService
let sandbox: Caller
let tenant: Awaited<ReturnType<typeof createTenant>>

beforeAll(async () => {
  service = await startService({ environment: { COUNTERSIGN_WORKERS: '1' } })
  sandbox = createCaller(service, service.quickstart['IDENTITY_TEST_API_KEY'] ?? '')
  tenant = await createTenant(service, 'other')
})
afterAll(async () => {
  await service.stop()
})

const complete = (caller: Caller, walletAddress: string, type: 'individual' | 'business' = 'individual') =>
  caller.registered({ type, body: { walletAddress }, headers: { [OUTCOME]: 'completed' } })
const setLevel = (level: string) => succeed(service, 'organization', 'update', 'other', '--level', level)
/** Waits for the effect of a command. */
const becomes = (caller: Caller, body: unknown, expected: Record<string, unknown>): Promise<void> =>
  until(async () => {
    const answer = await caller.verified(body)
    return Bun.deepEquals({ ...answer, ...expected }, answer)
  })

describe('the response', () => {
  test('for an unknown wallet is its address and verified false', async () => {
    for (const address of [walletOf('never'), SOLANA]) {
      for (const type of [undefined, 'individual', 'business']) {
        expect(await sandbox.verified({ address, type })).toEqual({ address, verified: false })
      }
    }
  })

  test('for a verified wallet has every field, and the address as it was sent', async () => {
    const address = walletOf('verified')
    await complete(sandbox, address)
    const sent = `0x${address.slice(2).toUpperCase()}`
    expect(await sandbox.verified({ address: sent })).toEqual({
      address: sent,
      verified: true,
      status: 'completed',
      userId: expect.any(String),
      checkType: 'kyc',
      verifiedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      wallets: [{ address: expect.stringMatching(new RegExp(`^${address}$`, 'i')), chain: 'ethereum' }],
    })
  })

  test.each(['pending', 'submitted', 'retry', 'rejected'])(
    'for a wallet of a %s session is verified false',
    async (status) => {
      const address = walletOf(`is ${status}`)
      await sandbox.registered({ body: { walletAddress: address }, headers: { [OUTCOME]: status } })
      expect(await sandbox.verified({ address })).toEqual({
        address,
        verified: false,
        status,
        checkType: null,
        verifiedAt: null,
        wallets: [],
      })
    },
  )

  test('with a type excludes sessions of other types', async () => {
    const address = walletOf('business')
    await complete(sandbox, address, 'business')
    expect(await sandbox.verified({ address, type: 'business' })).toMatchObject({ verified: true, checkType: 'kyb' })
    expect(await sandbox.verified({ address, type: 'individual' })).toEqual({ address, verified: false })
    expect(await sandbox.verified({ address })).toMatchObject({ verified: true, checkType: 'kyb' })
  })
})

describe('the level rule', () => {
  test('a higher level ends a verification until a new session reaches it', async () => {
    const address = walletOf('level')
    const first = await complete(tenant.test, address)
    await becomes(tenant.test, { address }, { verified: true })
    await setLevel('enhanced')
    await becomes(tenant.test, { address }, { verified: false, status: 'completed', checkType: null, wallets: [] })
    const second = await complete(tenant.test, address)
    expect(second.httpStatus).toBe(201)
    expect(second.sessionId).not.toBe(first.sessionId)
    await becomes(tenant.test, { address }, { verified: true })
    await setLevel('basic')
  })

  test('a wallet that another organization verified at the level is verified, under another user id', async () => {
    const address = walletOf('elsewhere')
    await setLevel('basic')
    await complete(sandbox, address)
    await becomes(tenant.test, { address }, { verified: true })
    const [ours, theirs] = [await sandbox.verified({ address }), await tenant.test.verified({ address })]
    expect(theirs).toMatchObject({ verified: true, status: 'completed', checkType: 'kyc' })
    expect(theirs['userId']).toEqual(expect.any(String))
    expect(theirs['userId']).not.toBe(ours['userId'] as string)
    // At a higher level, the response is that for an unknown wallet.
    await setLevel('standard')
    await becomes(tenant.test, { address }, { verified: false })
    expect(await tenant.test.verified({ address })).toEqual({ address, verified: false })
    await setLevel('basic')
    await becomes(tenant.test, { address }, { verified: true })
  })

  test('a revocation ends the verification for both organizations', async () => {
    const address = walletOf('revoked')
    const { sessionId } = await complete(sandbox, address)
    await becomes(tenant.test, { address }, { verified: true })
    await decide(service, sessionId, 'rejected', '--revoke')
    await becomes(sandbox, { address }, { verified: false, status: 'rejected' })
    await becomes(tenant.test, { address }, { verified: false })
    expect(await tenant.test.verified({ address })).toEqual({ address, verified: false })
  })
})

describe('invalid input', () => {
  test.each([
    ['an empty address', { address: '' }, 'MISSING_REQUIRED_FIELD'],
    ['an invalid address', { address: '0x12' }, 'INVALID_FIELD'],
    ['an address of the wrong type', { address: 7 }, 'INVALID_FIELD'],
    ['an unknown type', { address: SOLANA, type: 'kyc' }, 'INVALID_FIELD'],
    ['a type of the wrong type', { address: SOLANA, type: [] }, 'INVALID_FIELD'],
  ])('%s is 400', async (_name, body, code) => {
    await expectProblem(await sandbox.verify(body), 400, code)
  })

  test('a missing address is named, and a body that is missing or not JSON is refused', async () => {
    await expectProblem(await sandbox.verify({}), 400, 'MISSING_REQUIRED_FIELD', 'Missing required field: address')
    await expectProblem(await sandbox.verify('{'), 400, 'MALFORMED_JSON')
    await expectProblem(await sandbox.send('POST', '/api/v1/verify'), 415, 'UNSUPPORTED_MEDIA_TYPE')
  })
})
