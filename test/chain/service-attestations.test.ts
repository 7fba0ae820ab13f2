// What the running service signs is what the contracts accept, and nothing else: each EVM chain, each field (threats
// row 7), replay, the last second, and a change of keys under way. The same over 1,000 attestations: test/long.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Hex } from 'viem'
import { succeed } from '../service/calls.ts'
import { describeOnChain } from './anvil.ts'
import { type AttestedCall, attestCall, exerciseAttestation, guardedCall } from './guarded-calls.ts'
import { EVM_CHAINS, type ServiceOnChain, startServiceOnChain } from './service-on-chain.ts'

const ATTESTATIONS = 44

describeOnChain('the service’s attestations on chain', () => {
  let world: ServiceOnChain
  beforeAll(async () => {
    world = await startServiceOnChain()
  })
  afterAll(() => world?.stop())

  const command = (...words: string[]): Promise<string> => succeed(world.service, ...words)
  const attestersChanged = (matches: (active: readonly string[]) => boolean) =>
    world.service.logLine(
      (line) => line['message'] === 'attesters changed' && matches((line['active'] ?? []) as string[]),
    )
  /** GuardedVault.deposit on Base. */
  const attestDeposit = (): Promise<AttestedCall> => attestCall(world, guardedCall(world.chain.accounts, 0), 'base')
  const addAttester = async (): Promise<Hex> => {
    const { address } = JSON.parse(await command('attester', 'add', '--kind', 'secp256k1', '--json')) as {
      address: Hex
    }
    await attestersChanged((active) => active.includes(address))
    for (const to of [world.registry, world.verifier]) {
      await world.chain.send({ to, name: 'registerAttester', arguments: [address] })
    }
    return address
  }

  test(`${ATTESTATIONS} of them, each on its chain of ${EVM_CHAINS.length}: accepted once, and no field can be changed`, async () => {
    let mutations = 0
    for (let n = 0; n < ATTESTATIONS; n++) mutations += await exerciseAttestation(world, n)
    expect(mutations).toBeGreaterThan(ATTESTATIONS * 12)
  })

  test('rotation: the new key’s are accepted at once, the old key’s until it is deregistered', async () => {
    const { chain, registry, quickstart } = world
    await chain.setChainId(8453)
    const old = await attestDeposit()
    expect<string | undefined>(old.attestation.attester).toBe(quickstart['EVM_ATTESTER'])

    const next = await addAttester()
    await command('attester', 'retire', old.attestation.attester)
    await attestersChanged((active) => !active.includes(old.attestation.attester))
    const rotated = await attestDeposit()
    expect(rotated.attestation.attester).toBe(next)
    expect(await chain.call(old.call)).toEqual({ result: undefined })
    expect((await chain.send(rotated.call)).reverted).toBeNull()

    await chain.send({ to: registry, name: 'deregisterAttester', arguments: [old.attestation.attester] })
    expect(await chain.call(old.call)).toEqual({ reverted: 'AttesterNotRegistered' })
  })

  test('v1: tasks of one, two and three attesters open a vault that asks for as many', async () => {
    const { chain, quickstart } = world
    const [, user] = chain.accounts as [Hex, Hex]
    await chain.setChainId(1)
    for (const quorum of [1, 2, 3]) {
      if (quorum > 1) await addAttester()
      const path = join(world.service.dataDirectory, `quorum-${quorum}.yaml`)
      writeFileSync(path, `name: Quorum ${quorum}\ndefault: allow\nquorum: ${quorum}\nrules: []\n`)
      await command('policy', 'apply', path, '--policy', quickstart['POLICY_ID'] ?? '')
      const vault = await world.deployTaskVault(quorum)
      // A change is live within one second.
      const deadline = performance.now() + 1_000
      let message = await world.taskFor(vault, user, 7n, quorum)
      while (message === null && performance.now() < deadline) message = await world.taskFor(vault, user, 7n, quorum)

      const deposit = { to: vault, name: 'deposit', arguments: [user, message], from: user, value: 7n } as const
      expect(await chain.call({ ...deposit, value: 8n })).toEqual({ reverted: 'TaskSignatureInvalid' })
      if (quorum > 1) {
        const { signerAddresses, signatures } = message!
        const reversed = {
          ...message,
          signerAddresses: [...signerAddresses].reverse(),
          signatures: [...signatures].reverse(),
        }
        expect(await chain.call({ ...deposit, arguments: [user, reversed] })).toEqual({
          reverted: 'SignersNotAscending',
        })
      }
      expect((await chain.send(deposit)).reverted).toBeNull()
      expect(await chain.call(deposit)).toEqual({ reverted: 'TaskAlreadyUsed' })
    }
  })

  // Last, since the chain's clock runs ahead of the service's from here on.
  test('an attestation holds up to the second of its expiration', async () => {
    const { chain } = world
    await chain.setChainId(8453)
    const { call, attestation } = await attestDeposit()
    await chain.setNextTimestamp(Number(attestation.expiration))
    await chain.mine()
    expect(await chain.call(call)).toEqual({ result: undefined })
    await chain.setNextTimestamp(Number(attestation.expiration) + 1)
    expect((await chain.send(call)).reverted).toBe('AttestationExpired')
  })
})
