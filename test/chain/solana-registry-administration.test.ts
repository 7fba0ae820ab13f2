// The authority and attesters of the registry program, and the service's reader of its accounts (threats row 42).
import { beforeEach, describe, expect, test } from 'bun:test'
import { type Keypair, PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import { accountOf, programDataOf } from '../../src/client/solana-accounts.ts'
import {
  acceptAuthorityInstruction,
  closeSpentUuidInstruction,
  deregisterAttesterInstruction,
  initializeRegistryInstruction,
  registerAttesterInstruction,
  setPolicyInstruction,
  setPolicyOwnerInstruction,
  transferAuthorityInstruction,
  updatePolicyInstruction,
} from '../../src/client/solana-registry.ts'
import { createJsonRpc } from '../../src/facts/json-rpc.ts'
import { createSolanaRegistry, MAINNET_GENESIS_HASH } from '../../src/facts/solana-registry.ts'
import { startFakeNode } from '../registry/support.ts'
import {
  authority,
  createAdministeredWorld,
  INVALID_AUTHORITY,
  next,
  stranger,
  UNAUTHORIZED,
  UNSIGNED,
  upgrader,
  WRONG_ADDRESS,
} from './solana-administration.ts'
import { setUpgradeAuthority } from './solana-deployment.ts'
import {
  deploymentOf,
  expectExactLengths,
  keypair,
  POLICY,
  textOf,
  withAccount,
  withoutSignature,
} from './solana-world.ts'
import { describeOnSvm } from './svm.ts'

const ALREADY_INITIALIZED = 6004

describeOnSvm('the administration of the registry program', () => {
  let { world, run } = {} as ReturnType<typeof createAdministeredWorld>
  const attester = textOf(keypair(142))
  beforeEach(() => {
    ;({ world, run } = createAdministeredWorld())
  })

  describe('initialize', () => {
    const another = deploymentOf(160)
    const program = textOf(another.program)
    beforeEach(() => void world.deploy('registry'))

    test('is allowed once, to the upgrade authority of the program', () => {
      const own = initializeRegistryInstruction(program, textOf(another.authority))
      const foreign = initializeRegistryInstruction(program, textOf(stranger))
      expect(run(foreign, stranger)).toBe(UNAUTHORIZED)
      // Program data of another program.
      const data = programDataOf(keypair(120).publicKey)
      expect(run(withAccount(initializeRegistryInstruction(program, textOf(upgrader)), 3, data), upgrader)).toBe(
        UNAUTHORIZED,
      )
      expect(run(withoutSignature(own, 1))).toBe(UNAUTHORIZED)
      expect(run(withAccount(own, 0, keypair(152).publicKey), another.authority)).toBe(WRONG_ADDRESS)
      expect(run(own, another.authority)).toBeNull()
      expect(run(own, another.authority)).toBe(ALREADY_INITIALIZED)
    })

    test('refuses forged program data', () => {
      const forged = keypair(153).publicKey
      const real = world.svm.account(programDataOf(another.program.publicKey))!
      const data = Buffer.from(real.data)
      data.set(stranger.publicKey.toBytes(), 13)
      const own = initializeRegistryInstruction(program, textOf(stranger))
      world.svm.setAccount(forged, { ...real, data })
      expect(run(withAccount(own, 3, forged), stranger)).toBe(UNAUTHORIZED)
      world.svm.setAccount(forged, { ...real, data, owner: new PublicKey(world.target) })
      expect(run(withAccount(own, 3, forged), stranger)).toBe(UNAUTHORIZED)
    })

    test('fails without an upgrade authority', () => {
      setUpgradeAuthority(world.svm, another, null)
      const own = initializeRegistryInstruction(program, textOf(another.authority))
      expect(run(own, another.authority)).toBe(UNAUTHORIZED)
    })
  })

  describe('attesters', () => {
    const register = (by: Keypair) => registerAttesterInstruction(world.registry, textOf(by), attester)
    const deregister = (by: Keypair) => deregisterAttesterInstruction(world.registry, textOf(by), attester)

    test('are registered and deregistered only by the authority', () => {
      expect(run(register(stranger), stranger)).toBe(UNAUTHORIZED)
      expect(run(withoutSignature(register(authority), 2))).toMatch(UNSIGNED)
      expect(run(deregister(authority), authority)).toBe(6001)
      expect(run(register(authority), authority)).toBeNull()
      expect(run(register(authority), authority)).toBe(6000)
      expect(run(deregister(stranger), stranger)).toBe(UNAUTHORIZED)
      expect(run(withoutSignature(deregister(authority), 2))).toMatch(UNSIGNED)
      const before = world.svm.account(authority.publicKey)!.lamports
      const { address, lamports } = attesterAccount()
      expect(run(deregister(authority), authority)).toBeNull()
      expect(world.svm.account(authority.publicKey)!.lamports).toBe(before + lamports)
      expect(world.svm.account(address)?.data.length ?? 0).toBe(0)
    })
    const attesterAccount = () => {
      const address = accountOf(new PublicKey(world.registry), 'attester', new PublicKey(attester).toBytes())
      return { address, lamports: world.svm.account(address)!.lamports }
    }

    test('have their own addresses, and cannot be confused with other accounts', () => {
      const registered = keypair(140).publicKey
      const other = accountOf(new PublicKey(world.registry), 'attester', registered.toBytes())
      expect(run(withAccount(register(authority), 1, other), authority)).toBe(WRONG_ADDRESS)
      expect(run(withAccount(deregister(authority), 1, other), authority)).toBe(6001)
      expect(run(withAccount(register(authority), 3, new PublicKey(world.target)), authority)).toBe(3008)
      // A policy account has a key at the offset of an attester's key.
      const named = deregisterAttesterInstruction(world.registry, textOf(authority), world.target)
      const policy = accountOf(new PublicKey(world.registry), 'policy', new PublicKey(world.target).toBytes())
      expect(run(withAccount(named, 1, policy), authority)).toBe(6001)
    })

    test('cannot be registered with another registry program', () => {
      const another = world.deploy('registry')
      const program = textOf(another.program)
      world.must(initializeRegistryInstruction(program, textOf(another.authority)), another.authority)
      const foreign = accountOf(another.program.publicKey, 'predicate_registry')
      const mine = registerAttesterInstruction(world.registry, textOf(another.authority), attester)
      expect(run(withAccount(mine, 0, foreign), another.authority)).toBe(6005)
    })
  })

  describe('the authority', () => {
    const transfer = (by: Keypair, to: Keypair | null) =>
      transferAuthorityInstruction(world.registry, textOf(by), to === null ? null : textOf(to))
    const accept = (by: Keypair) => acceptAuthorityInstruction(world.registry, textOf(by))
    const mayRegister = (by: Keypair) => run(registerAttesterInstruction(world.registry, textOf(by), attester), by)

    test('changes in two steps', () => {
      expect(run(transfer(stranger, stranger), stranger)).toBe(UNAUTHORIZED)
      expect(run(withoutSignature(transfer(authority, stranger), 1))).toMatch(UNSIGNED)
      expect(run(accept(next), next)).toBe(INVALID_AUTHORITY)
      expect(run(transfer(authority, next), authority)).toBeNull()
      expect(run(accept(stranger), stranger)).toBe(INVALID_AUTHORITY)
      expect(run(withoutSignature(accept(next), 1))).toMatch(UNSIGNED)
      expect(mayRegister(next)).toBe(UNAUTHORIZED)
      expect(run(accept(next), next)).toBeNull()
      expect(run(accept(next), next)).toBe(INVALID_AUTHORITY)
      expect(run(transfer(authority, authority), authority)).toBe(UNAUTHORIZED)
      expect(mayRegister(authority)).toBe(UNAUTHORIZED)
      expect(mayRegister(next)).toBeNull()
    })

    test('can cancel the change after the first step', () => {
      expect(run(transfer(authority, next), authority)).toBeNull()
      expect(run(transfer(authority, null), authority)).toBeNull()
      expect(run(accept(next), next)).toBe(INVALID_AUTHORITY)
      expect(mayRegister(authority)).toBeNull()
    })
  })

  /** Returns every instruction except the validation, with its signers. */
  const everyInstruction = () => {
    const target = { target: world.target, authority: textOf(upgrader) }
    const all: [TransactionInstruction, ...Keypair[]][] = [
      [initializeRegistryInstruction(world.registry, textOf(authority)), authority],
      [registerAttesterInstruction(world.registry, textOf(authority), attester), authority],
      [deregisterAttesterInstruction(world.registry, textOf(authority), textOf(keypair(140))), authority],
      [transferAuthorityInstruction(world.registry, textOf(authority), textOf(next)), authority],
      [acceptAuthorityInstruction(world.registry, textOf(next)), next],
      [setPolicyInstruction(world.registry, target, 'x-1'), upgrader],
      [updatePolicyInstruction(world.registry, target, 'x-1'), upgrader],
      [setPolicyOwnerInstruction(world.registry, target, textOf(next)), upgrader, next],
      [closeSpentUuidInstruction(world.registry, world.nextUuid(), textOf(next)), next],
    ]
    return all
  }

  test('every instruction refuses truncated data or accounts, and trailing data', () => {
    for (const [instruction, ...signers] of everyInstruction()) {
      expectExactLengths(instruction, (changed) => run(changed, ...signers))
    }
  })

  test('every instruction refuses another account as the registry', () => {
    const program = new PublicKey(world.registry)
    const registry = accountOf(program, 'predicate_registry')
    const policy = accountOf(program, 'policy', new PublicKey(world.target).toBytes())
    const copy = keypair(157).publicKey
    world.svm.setAccount(copy, { ...world.svm.account(registry)!, owner: new PublicKey(world.target) })
    const [initialize, ...others] = everyInstruction().filter(([{ keys }]) => keys[0]!.pubkey.equals(registry))
    expect(others).toHaveLength(7)
    for (const other of [policy, copy]) {
      const [first, ...signers] = initialize!
      expect(run(withAccount(first, 0, other), ...signers)).toBe(WRONG_ADDRESS)
      for (const [instruction, ...by] of others) expect(run(withAccount(instruction, 0, other), ...by)).toBe(6005)
    }
  })

  test('the service reads the accounts of the program', async () => {
    const node = startFakeNode(({ params: [address] }) => {
      const account = world.svm.account(new PublicKey(address as string))
      if (account === null) return { value: null }
      const data = [Buffer.from(account.data).toString('base64'), 'base64']
      return { value: { owner: account.owner.toBase58(), executable: account.executable, data } }
    })
    try {
      const rpc = createJsonRpc({ url: node.url, timeoutMs: 5_000 })
      const registry = createSolanaRegistry(world.registry, MAINNET_GENESIS_HASH)
      const registered = () =>
        Promise.all([140, 142].map((number) => registry.isAttesterRegistered(rpc, textOf(keypair(number)))))
      expect(await registry.isDeployed(rpc)).toBe(true)
      expect(await registry.policyId(rpc, world.target)).toBe(POLICY)
      expect(await registry.policyId(rpc, SystemProgram.programId.toBase58())).toBeNull()
      expect(await registered()).toEqual([true, false])
      const first = textOf(keypair(140))
      world.must(deregisterAttesterInstruction(world.registry, textOf(authority), first), authority)
      expect(await registered()).toEqual([false, false])
    } finally {
      await node.stop()
    }
  })
})
