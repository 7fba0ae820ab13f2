// PolicyRegistry on a local node, called by the target: each attestation of a random statement is accepted once, and
// refused with any change (threats row 7).
import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { decodeEventLog, getAddress, type Hex } from 'viem'
import { BUILT_IN_CHAINS } from '../../src/domain/chain.ts'
import { evmStatement } from '../signing/arbitraries.ts'
import type { EvmStatement } from '../signing/statements.ts'
import { describeOnChain } from './anvil.ts'
import {
  type AttestationArgument,
  digestStatement,
  flipBit,
  highSTwin,
  type StatementArgument,
  statementArgument,
  testAttester,
  withRecoveryByte,
} from './attesting.ts'
import { type Deployed, type LocalChain, type Outcome, startLocalChain } from './local-chain.ts'

const STATEMENTS = 50
const OTHER_ADDRESS = '0x00000000000000000000000000000000000000c5'
const EVM_CHAINS = BUILT_IN_CHAINS.flatMap((chain) => (chain.family === 'evm' ? [chain] : []))
const ACCEPTED: Outcome = { result: true }

const attester = testAttester(1)
const secondAttester = testAttester(2)
const stranger = testAttester(3)

describeOnChain('PolicyRegistry', () => {
  let chain: LocalChain
  let registry: Deployed
  beforeAll(async () => {
    chain = await startLocalChain(8453)
    registry = await chain.deploy('PolicyRegistry', chain.accounts[0])
    for (const { address } of [attester, secondAttester]) {
      await chain.send({ to: registry, name: 'registerAttester', arguments: [address] })
    }
  })
  afterAll(() => chain?.stop())

  const validate = (statement: StatementArgument, attestation: AttestationArgument, caller: string) =>
    ({ to: registry, name: 'validateAttestation', arguments: [statement, attestation], from: caller as Hex }) as const

  /** Returns random statements that are valid for five minutes. */
  const sampleStatements = async (count: number, chainId = 8453): Promise<EvmStatement[]> => {
    const expirationSeconds = (await chain.timestampSeconds()) + 300
    return fc.sample(evmStatement, count).map((statement) => ({ ...statement, chainId, expirationSeconds }))
  }

  const sampleStatement = async (chainId?: number): Promise<EvmStatement> => (await sampleStatements(1, chainId))[0]!

  /** Returns every change of one field, and its expected error. */
  const mutations = (signed: EvmStatement): [string, string, StatementArgument, AttestationArgument, string][] => {
    const statement = statementArgument(signed)
    const attestation = attester.attest(signed)
    const uuid = crypto.randomUUID()
    const expiresLater = { expiration: statement.expiration + 1n }
    const data: Hex = `${statement.encodedSigAndArgs}00`
    const changed = (name: string, reason: string, fields: Partial<StatementArgument>) =>
      [name, reason, { ...statement, ...fields }, attestation, signed.to] as const
    const resigned = (name: string, reason: string, fields: Partial<AttestationArgument>) =>
      [name, reason, statement, { ...attestation, ...fields }, signed.to] as const
    const { signature } = attestation
    const cases = [
      ['target', 'SignatureInvalid', statement, attestation, OTHER_ADDRESS],
      ['uuid', 'SignatureInvalid', { ...statement, uuid }, { ...attestation, uuid }, signed.to],
      changed("the statement's uuid", 'AttestationMismatch', { uuid }),
      resigned("the attestation's uuid", 'AttestationMismatch', { uuid }),
      changed('sender', 'SignatureInvalid', { msgSender: OTHER_ADDRESS }),
      changed('value', 'SignatureInvalid', { msgValue: statement.msgValue ^ 1n }),
      changed('data', 'SignatureInvalid', { encodedSigAndArgs: data }),
      changed('policy', 'SignatureInvalid', { policy: `${statement.policy} ` }),
      [
        'expiration',
        'SignatureInvalid',
        { ...statement, ...expiresLater },
        { ...attestation, ...expiresLater },
        signed.to,
      ],
      changed("the statement's expiration", 'AttestationMismatch', expiresLater),
      resigned("the attestation's expiration", 'AttestationMismatch', expiresLater),
      resigned('attester: another registered attester', 'SignatureInvalid', { attester: secondAttester.address }),
      resigned('attester: a stranger', 'AttesterNotRegistered', stranger.attest(signed)),
      resigned('attester: zero address', 'AttesterNotRegistered', { attester: `0x${'00'.repeat(20)}` }),
      resigned('signature: r', 'SignatureInvalid', { signature: flipBit(signature, 31) }),
      resigned('signature: s', 'SignatureInvalid', { signature: flipBit(signature, 63) }),
      resigned('signature: the other v', 'SignatureInvalid', {
        signature: withRecoveryByte(signature, signature.endsWith('1b') ? 28 : 27),
      }),
      resigned('signature: high s', 'SignatureMalformed', { signature: highSTwin(signature) }),
    ] as const
    return cases.map((entry) => [...entry])
  }

  test('the digest view equals our digest', async () => {
    await fc.assert(
      fc.asyncProperty(evmStatement, async (statement) => {
        const digest = await chain.read<string>(registry, 'hashStatementWithExpiry', statementArgument(statement))
        expect(digest).toBe(`0x${digestStatement({ ...statement, chainId: 8453 }).toHex()}`)
      }),
      { numRuns: STATEMENTS },
    )
  })

  test('the safe digest view uses its caller as the target', async () => {
    const statement = await sampleStatement()
    const outcome = await chain.call({
      to: registry,
      name: 'hashStatementSafe',
      arguments: [{ ...statementArgument(statement), target: OTHER_ADDRESS }],
      from: statement.to as Hex,
    })
    expect(outcome).toEqual({ result: `0x${digestStatement(statement).toHex()}` })
  })

  test(`${STATEMENTS} attestations are refused with a changed field, and each is accepted once`, async () => {
    for (const signed of await sampleStatements(STATEMENTS)) {
      for (const [name, reason, statement, attestation, caller] of mutations(signed)) {
        const outcome = await chain.call(validate(statement, attestation, caller))
        expect([name, outcome]).toEqual([name, { reverted: reason }])
      }
      const good = validate(statementArgument(signed), attester.attest(signed), signed.to)
      expect((await chain.send(good)).reverted).toBeNull()
      expect(await chain.read<boolean>(registry, 'usedStatementUUIDs', signed.uuid)).toBe(true)
      expect(await chain.call(good)).toEqual({ reverted: 'UuidAlreadyUsed' })
    }
  })

  test.each(EVM_CHAINS)('an attestation for $name ($chainId) is accepted on no other chain', async ({ chainId }) => {
    const signed = await sampleStatement(chainId)
    const call = validate(statementArgument(signed), attester.attest(signed), signed.to)
    try {
      for (const other of EVM_CHAINS) {
        await chain.setChainId(other.chainId)
        expect(await chain.call(call)).toEqual(other.chainId === chainId ? ACCEPTED : { reverted: 'SignatureInvalid' })
      }
    } finally {
      await chain.setChainId(8453)
    }
  })

  test('ignores the target of the statement, because the caller is the target', async () => {
    const signed = await sampleStatement()
    const statement = { ...statementArgument(signed), target: OTHER_ADDRESS } as const
    expect(await chain.call(validate(statement, attester.attest(signed), signed.to))).toEqual(ACCEPTED)
  })

  test('accepts an attestation until the second of its expiration', async () => {
    const signed = await sampleStatement()
    const call = validate(statementArgument(signed), attester.attest(signed), signed.to)
    await chain.setNextTimestamp(signed.expirationSeconds)
    await chain.mine()
    expect(await chain.call(call)).toEqual(ACCEPTED)
    await chain.setNextTimestamp(signed.expirationSeconds + 1)
    expect((await chain.send(call)).reverted).toBe('AttestationExpired')

    const next = await sampleStatement()
    await chain.setNextTimestamp(next.expirationSeconds)
    const sent = await chain.send(validate(statementArgument(next), attester.attest(next), next.to))
    expect(sent.reverted).toBeNull()
  })

  test('refuses other encodings of a signature', async () => {
    const signed = await sampleStatement()
    const attestation = attester.attest(signed)
    const spellings: Hex[] = [
      '0x',
      attestation.signature.slice(0, 130) as Hex,
      `${attestation.signature}00`,
      `0x${'00'.repeat(64)}1b`.slice(0, 130) as Hex,
      ...[0, 1, 2, 26, 29, 255].map((byte) => withRecoveryByte(attestation.signature, byte)),
    ]
    for (const signature of spellings) {
      const outcome = await chain.call(validate(statementArgument(signed), { ...attestation, signature }, signed.to))
      expect([signature, outcome]).toEqual([signature, { reverted: 'SignatureMalformed' }])
    }
    const empty = { ...attestation, signature: `0x${'00'.repeat(64)}1b` } as const
    const outcome = await chain.call(validate(statementArgument(signed), empty, signed.to))
    expect(outcome).toEqual({ reverted: 'SignatureInvalid' })
  })

  test('checks expiration, agreement, uuid, attester and signature in this order', async () => {
    const spent = await sampleStatement()
    await chain.send(validate(statementArgument(spent), attester.attest(spent), spent.to))
    // At first, everything is invalid; each step corrects the first error.
    let statement: StatementArgument = { ...statementArgument(spent), msgValue: spent.value ^ 1n, expiration: 7n }
    let attestation: AttestationArgument = { ...stranger.attest(spent), expiration: 6n }
    const reason = () => chain.call(validate(statement, attestation, spent.to))
    expect(await reason()).toEqual({ reverted: 'AttestationExpired' })
    attestation = { ...attestation, expiration: BigInt(spent.expirationSeconds) }
    expect(await reason()).toEqual({ reverted: 'AttestationMismatch' })
    statement = { ...statement, expiration: attestation.expiration }
    expect(await reason()).toEqual({ reverted: 'UuidAlreadyUsed' })
    const uuid = crypto.randomUUID()
    statement = { ...statement, uuid }
    attestation = { ...attestation, uuid }
    expect(await reason()).toEqual({ reverted: 'AttesterNotRegistered' })
    attestation = { ...attestation, attester: attester.address }
    expect(await reason()).toEqual({ reverted: 'SignatureInvalid' })
  })

  test('accepts both keys during a rotation, and refuses a deregistered key', async () => {
    const [first, second, third] = (await sampleStatements(3)) as [EvmStatement, EvmStatement, EvmStatement]
    const byOld = validate(statementArgument(first), attester.attest(first), first.to)
    const byNew = validate(statementArgument(second), secondAttester.attest(second), second.to)
    expect(await chain.call(byOld)).toEqual(ACCEPTED)
    expect((await chain.send(byNew)).reverted).toBeNull()

    await chain.send({ to: registry, name: 'deregisterAttester', arguments: [attester.address] })
    expect(await chain.call(byOld)).toEqual({ reverted: 'AttesterNotRegistered' })
    const byNewAgain = validate(statementArgument(third), secondAttester.attest(third), third.to)
    expect(await chain.call(byNewAgain)).toEqual(ACCEPTED)
    await chain.send({ to: registry, name: 'registerAttester', arguments: [attester.address] })
    expect(await chain.call(byOld)).toEqual(ACCEPTED)
  })

  test('emits an event with every signed field', async () => {
    const signed = await sampleStatement()
    const { logs } = await chain.send(validate(statementArgument(signed), attester.attest(signed), signed.to))
    const { topics, data } = logs[0]!
    const { eventName, args }: { eventName?: string | undefined; args?: object | undefined } = decodeEventLog({
      abi: registry.abi,
      topics,
      data,
    })
    expect(eventName).toBe('StatementValidated')
    const values = Object.entries(args ?? {}).map(([name, value]) => [name, String(value)])
    expect(Object.fromEntries(values)).toEqual({
      msgSender: getAddress(signed.from),
      target: getAddress(signed.to),
      attester: attester.address,
      msgValue: String(signed.value),
      policy: signed.policy,
      uuid: signed.uuid,
      expiration: String(signed.expirationSeconds),
    })
  })
})
