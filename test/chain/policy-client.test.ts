// The client mixins in the example contracts, with attestations of test keys: each is valid for exactly its call. For
// attestations of a running service, see service-attestations.test.ts.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Hex } from 'viem'
import type { EvmStatement } from '../signing/statements.ts'
import { describeOnChain } from './anvil.ts'
import { type AttestationArgument, encodeInternal, flipBit, highSTwin, testAttester } from './attesting.ts'
import { type Deployed, type LocalChain, startLocalChain } from './local-chain.ts'

const POLICY = 'x-0123456789abcdef'
const SUPPLY = 10n ** 24n
const ROUNDS = 10

const attester = testAttester(1)
const secondAttester = testAttester(2)

describeOnChain('client contracts', () => {
  let chain: LocalChain
  let registry: Deployed
  let owner: Hex
  let user: Hex
  let other: Hex
  beforeAll(async () => {
    chain = await startLocalChain(8453)
    ;[owner, user, other] = chain.accounts as [Hex, Hex, Hex]
    registry = await chain.deploy('PolicyRegistry', owner)
    await chain.send({ to: registry, name: 'registerAttester', arguments: [attester.address] })
    await chain.send({ to: registry, name: 'registerAttester', arguments: [secondAttester.address] })
  })
  afterAll(() => chain?.stop())

  const deploy = (name: string, ...more: bigint[]) => chain.deploy(name, owner, registry.address, POLICY, ...more)

  interface GuardedCall {
    readonly name: string
    readonly values: readonly unknown[]
    readonly from: Hex
    readonly value: bigint
  }

  interface Scenario {
    readonly contract: string
    deploy(): Promise<Deployed>
    /** Returns the n-th call, and the data and value of its attestation request. */
    call(n: number): GuardedCall & { readonly data: Hex; readonly signedValue: bigint }
  }

  const deposit = (contract: string, whole: boolean): Scenario => ({
    contract,
    deploy: () => deploy(contract),
    call: (n) => ({
      name: 'deposit',
      values: [other],
      from: user,
      value: BigInt(n + 1),
      data: whole ? encodeInternal('_deposit(address)', ['address', other]) : '0x',
      signedValue: whole ? BigInt(n + 1) : 0n,
    }),
  })

  const transfer = (contract: string, whole: boolean): Scenario => ({
    contract,
    deploy: () => deploy(contract, SUPPLY),
    call: (n) => ({
      name: 'transfer',
      values: [other, BigInt(n) * 7n],
      from: owner,
      value: 0n,
      data: whole
        ? encodeInternal('_transfer(address,uint256)', ['address', other], ['uint256', BigInt(n) * 7n])
        : '0x',
      signedValue: 0n,
    }),
  })

  const statementFor = async (target: Deployed, call: ReturnType<Scenario['call']>): Promise<EvmStatement> => ({
    chainId: 8453,
    uuid: crypto.randomUUID(),
    from: call.from.toLowerCase(),
    to: target.address.toLowerCase(),
    value: call.signedValue,
    data: call.data,
    policy: POLICY,
    expirationSeconds: (await chain.timestampSeconds()) + 300,
  })

  const guarded = (to: Deployed, call: GuardedCall, attestation: AttestationArgument) =>
    ({ to, name: call.name, arguments: [...call.values, attestation], from: call.from, value: call.value }) as const

  const invalid = { reverted: 'SignatureInvalid' }

  describe.each([
    ['GuardedVault.deposit', () => deposit('GuardedVault', true), true],
    ['GuardedToken.transfer', () => transfer('GuardedToken', true), true],
    ['BasicGuardedVault.deposit', () => deposit('BasicGuardedVault', false), false],
    ['BasicGuardedToken.transfer', () => transfer('BasicGuardedToken', false), false],
  ] as const)('%s', (_, makeScenario, whole) => {
    let scenario: Scenario
    let target: Deployed
    let twin: Deployed
    beforeAll(async () => {
      scenario = makeScenario()
      target = await scenario.deploy()
      twin = await scenario.deploy()
    })

    test('sets its policy in the registry', async () => {
      expect(await chain.read<string>(registry, 'getPolicyID', target.address)).toBe(POLICY)
      expect(await chain.read<string>(target, 'getPolicyID')).toBe(POLICY)
      expect(await chain.read<Hex>(target, 'getRegistry')).toBe(registry.address)
    })

    test(`${ROUNDS} attestations are refused with any change, and each is accepted once`, async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const call = scenario.call(round)
        const attestation = attester.attest(await statementFor(target, call))
        const refused = async (what: string, outcome: ReturnType<LocalChain['call']>, reason = invalid) =>
          expect([what, await outcome]).toEqual([what, reason])
        const withAttestation = (fields: Partial<AttestationArgument>) =>
          chain.call(guarded(target, call, { ...attestation, ...fields }))
        await refused('sender', chain.call({ ...guarded(target, call, attestation), from: other }))
        await refused('target', chain.call(guarded(twin, call, attestation)))
        await refused('uuid', withAttestation({ uuid: crypto.randomUUID() }))
        await refused('expiration', withAttestation({ expiration: attestation.expiration + 1n }))
        await refused('attester', withAttestation({ attester: secondAttester.address }))
        await refused('signature', withAttestation({ signature: flipBit(attestation.signature, 40) }))
        const malformed = { reverted: 'SignatureMalformed' }
        await refused('high s', withAttestation({ signature: highSTwin(attestation.signature) }), malformed)
        if (whole) {
          const values = [call.from, ...call.values.slice(1)]
          await refused('arguments', chain.call(guarded(target, { ...call, values }, attestation)))
          if (call.value > 0n) {
            await refused('value', chain.call(guarded(target, { ...call, value: call.value + 1n }, attestation)))
          }
        }
        const good = guarded(target, call, attestation)
        expect((await chain.send(good)).reverted).toBeNull()
        expect(await chain.call(good)).toEqual({ reverted: 'UuidAlreadyUsed' })
      }
    })

    test('an attestation is refused with another policy, chain or registry, and then accepted', async () => {
      const call = scenario.call(1)
      const good = guarded(target, call, attester.attest(await statementFor(target, call)))
      const set = async (name: string, value: string): Promise<void> => {
        expect((await chain.send({ to: target, name, arguments: [value] })).reverted).toBeNull()
      }
      await set('setPolicyID', 'x-fedcba9876543210')
      expect(await chain.read<string>(registry, 'getPolicyID', target.address)).toBe('x-fedcba9876543210')
      expect(await chain.call(good)).toEqual(invalid)
      await set('setPolicyID', POLICY)

      await chain.setChainId(1)
      expect(await chain.call(good)).toEqual(invalid)
      await chain.setChainId(8453)

      const otherRegistry = await chain.deploy('PolicyRegistry', owner)
      await set('setRegistry', otherRegistry.address)
      expect(await chain.read<string>(otherRegistry, 'getPolicyID', target.address)).toBe(POLICY)
      expect(await chain.call(good)).toEqual({ reverted: 'AttesterNotRegistered' })
      await set('setRegistry', registry.address)
      expect((await chain.send(good)).reverted).toBeNull()
    })

    test('only the owner sets the policy and the registry, which must be a contract', async () => {
      for (const [name, value] of [
        ['setPolicyID', 'x'],
        ['setRegistry', registry.address],
      ] as const) {
        const outcome = await chain.call({ to: target, name, arguments: [value], from: other })
        expect(outcome).toEqual({ reverted: 'CallerNotOwner' })
      }
      const outcome = await chain.call({ to: target, name: 'setRegistry', arguments: [other] })
      expect(outcome).toEqual({ reverted: 'without a reason' })
    })
  })

  test('a call is refused if the registry returns false without reverting', async () => {
    const vault = await deploy('GuardedVault')
    const refusing = '0x00000000000000000000000000000000000000a1'
    // PUSH1 32, PUSH0, RETURN: always 32 zero bytes.
    await chain.request('anvil_setCode', [refusing, '0x60205ff3'])
    await chain.send({ to: vault, name: 'setRegistry', arguments: [refusing] })
    const call = deposit('GuardedVault', true).call(1)
    const attestation = attester.attest(await statementFor(vault, call))
    expect(await chain.call(guarded(vault, call, attestation))).toEqual({ reverted: 'AttestationRefused' })
  })

  test('BasicPolicyClient: an attestation is valid for any arguments and value of its sender', async () => {
    const vault = await deploy('BasicGuardedVault')
    const call = deposit('BasicGuardedVault', false).call(1)
    const attestation = attester.attest(await statementFor(vault, call))
    const changed = { ...call, values: [owner], value: 12345n }
    expect((await chain.send(guarded(vault, changed, attestation))).reverted).toBeNull()
    expect(await chain.read<bigint>(vault, 'balanceOf', owner)).toBe(12345n)
    expect((await chain.send({ to: vault, name: 'withdraw', arguments: [owner, 12345n] })).reverted).toBeNull()
  })

  test('GuardedVault: a withdrawal pays the attested receiver, up to the balance', async () => {
    const vault = await deploy('GuardedVault')
    const receiver = '0x00000000000000000000000000000000000000c5'
    const paid = deposit('GuardedVault', true).call(99)
    await chain.send(guarded(vault, paid, attester.attest(await statementFor(vault, paid))))
    const withdrawal = (amount: bigint) => ({
      name: 'withdraw',
      values: [receiver, amount],
      from: other,
      value: 0n,
      data: encodeInternal('_withdraw(address,uint256)', ['address', receiver], ['uint256', amount]),
      signedValue: 0n,
    })
    const tooMuch = withdrawal(101n)
    const attestation = attester.attest(await statementFor(vault, tooMuch))
    const refused = await chain.send(guarded(vault, tooMuch, attestation))
    expect(refused.reverted).toBe('BalanceTooLow')
    // A call that fails after the check does not spend the attestation.
    expect(await chain.read<boolean>(registry, 'usedStatementUUIDs', attestation.uuid)).toBe(false)

    const all = withdrawal(100n)
    const sent = await chain.send(guarded(vault, all, attester.attest(await statementFor(vault, all))))
    expect(sent.reverted).toBeNull()
    expect(await chain.request<Hex>('eth_getBalance', [receiver, 'latest'])).toBe('0x64')
  })
})
