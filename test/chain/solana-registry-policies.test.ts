// Permissions to change policies in the registry program: current upgrade authorities, declared owners, and accounts that
// sign (threats row 42).
import { beforeEach, describe, expect, test } from 'bun:test'
import { type Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js'
import { accountOf, programDataOf } from '../../src/client/solana-accounts.ts'
import {
  setPolicyInstruction,
  setPolicyOwnerInstruction,
  updatePolicyInstruction,
} from '../../src/client/solana-registry.ts'
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
import { deployProgram, setUpgradeAuthority } from './solana-deployment.ts'
import { keypair, loadProgram, textOf, withAccount, withoutSignature } from './solana-world.ts'
import { describeOnSvm } from './svm.ts'

describeOnSvm('policies in the registry program', () => {
  let { world, run } = {} as ReturnType<typeof createAdministeredWorld>
  beforeEach(() => {
    ;({ world, run } = createAdministeredWorld())
  })

  describe('the policy of a program', () => {
    const change = (by: Keypair) => ({ target: world.target, authority: textOf(by) })
    const update = (by: Keypair, text = 'x-1') => updatePolicyInstruction(world.registry, change(by), text)
    const set = (by: Keypair) => setPolicyInstruction(world.registry, change(by), 'x-1')
    const own = (by: Keypair, to: Keypair | null) =>
      setPolicyOwnerInstruction(world.registry, change(by), to === null ? null : textOf(to))

    test('is changed only by its current upgrade authority', () => {
      expect(run(set(upgrader), upgrader)).toBe(6100)
      expect(run(update(stranger), stranger)).toBe(UNAUTHORIZED)
      expect(run(update(authority), authority)).toBe(UNAUTHORIZED)
      expect(run(withoutSignature(update(upgrader), 4))).toMatch(UNSIGNED)
      expect(run(update(upgrader), upgrader)).toBeNull()
      setUpgradeAuthority(world.svm, world.targetDeployment, next.publicKey)
      expect(run(update(upgrader), upgrader)).toBe(UNAUTHORIZED)
      expect(run(update(next), next)).toBeNull()
      setUpgradeAuthority(world.svm, { ...world.targetDeployment, authority: next }, null)
      expect(run(update(next), next)).toBe(UNAUTHORIZED)
    })

    test('is not set with the key of the program or with other program data', () => {
      const program = keypair(160)
      const another = world.deploy('vault')
      const bare = { target: textOf(program), authority: textOf(stranger) }
      const signed = setPolicyInstruction(world.registry, bare, 'x-1', { targetSigns: true })
      expect(run(signed, stranger, program)).toBe(UNAUTHORIZED)
      const foreign = setPolicyInstruction(world.registry, { ...bare, authority: textOf(upgrader) }, 'x-1')
      expect(run(withAccount(foreign, 3, programDataOf(keypair(120).publicKey)), upgrader)).toBe(UNAUTHORIZED)
      const proper = setPolicyInstruction(world.registry, { ...bare, authority: textOf(another.authority) }, 'x-1')
      expect(run(withAccount(proper, 1, keypair(152).publicKey), another.authority)).toBe(WRONG_ADDRESS)
      expect(run(withoutSignature(proper, 4))).toBe(UNAUTHORIZED)
      expect(run(proper, another.authority)).toBeNull()
    })

    test('can have an owner, who keeps it after the program becomes final and can be removed before that', () => {
      expect(run(own(stranger, stranger), stranger)).toBe(UNAUTHORIZED)
      expect(run(withoutSignature(own(upgrader, next), 5), upgrader)).toMatch(UNSIGNED)
      expect(run(own(upgrader, next), upgrader, next)).toBeNull()
      expect(run(update(next), next)).toBeNull()
      expect(run(update(upgrader), upgrader)).toBeNull()
      expect(run(own(next, null), next)).toBe(INVALID_AUTHORITY)
      expect(run(own(upgrader, null), upgrader)).toBeNull()
      expect(run(update(next), next)).toBe(UNAUTHORIZED)
      expect(run(own(upgrader, next), upgrader, next)).toBeNull()
      setUpgradeAuthority(world.svm, world.targetDeployment, null)
      expect(run(update(upgrader), upgrader)).toBe(UNAUTHORIZED)
      expect(run(own(next, stranger), next, stranger)).toBeNull()
      expect(run(update(next), next)).toBe(UNAUTHORIZED)
      expect(run(update(stranger), stranger)).toBeNull()
    })

    test('has 1 to 64 visible characters', () => {
      const withText = (text: string) => {
        const length = Buffer.alloc(4)
        length.writeUInt32LE(text.length)
        const { data } = update(upgrader)
        const bytes = Buffer.concat([data.subarray(0, 8), length, Buffer.from(text, 'latin1')])
        return run(new TransactionInstruction({ ...update(upgrader), data: bytes }), upgrader)
      }
      for (const text of ['', 'x y', 'x\u007f', 'x\u00e9', 'x\n']) expect(withText(text)).toBe(6014)
      expect(['x'.repeat(65), 'x'.repeat(64), '!~'].map(withText)).toEqual([6013, null, null])
      expect(() => update(upgrader, 'two words')).toThrow('policy')
    })

    test('is not changed with the account of another target', () => {
      const other = keypair(154)
      const bare = { target: textOf(other), authority: textOf(stranger) }
      world.must(setPolicyInstruction(world.registry, bare, 'x-2', { targetSigns: true }), stranger, other)
      const theirs = accountOf(new PublicKey(world.registry), 'policy', other.publicKey.toBytes())
      const mine = accountOf(new PublicKey(world.registry), 'policy', new PublicKey(world.target).toBytes())
      expect(run(withAccount(update(upgrader), 1, theirs), upgrader)).toBe(6027)
      expect(run(withAccount(updatePolicyInstruction(world.registry, bare, 'x-1'), 1, mine), stranger)).toBe(6027)
      const registry = accountOf(new PublicKey(world.registry), 'predicate_registry')
      expect(run(withAccount(update(upgrader), 1, registry), upgrader)).toBe(6022)
    })
  })

  test('the policy of an account without a program is set with the signature of the account, and can then have an owner', () => {
    const account = keypair(155)
    const bare = { target: textOf(account), authority: textOf(stranger) }
    const set = (signs: boolean) => setPolicyInstruction(world.registry, bare, 'x-1', { targetSigns: signs })
    expect(run(set(false), stranger)).toBe(UNAUTHORIZED)
    expect(run(withoutSignature(set(true), 4), account)).toMatch(UNSIGNED)
    expect(run(set(true), stranger, account)).toBeNull()
    const update = (by: Keypair) =>
      run(updatePolicyInstruction(world.registry, { ...bare, authority: textOf(by) }, 'x-2'), by)
    expect([update(stranger), update(next)]).toEqual([null, UNAUTHORIZED])
    const hand = (by: Keypair, to: Keypair | null) =>
      setPolicyOwnerInstruction(world.registry, { ...bare, authority: textOf(by) }, to === null ? null : textOf(to))
    expect(run(hand(stranger, null), stranger)).toBe(INVALID_AUTHORITY)
    expect(run(hand(stranger, next), stranger, next)).toBeNull()
    expect([update(stranger), update(next)]).toEqual([UNAUTHORIZED, null])
    // After a program is deployed at the address, only its upgrade authority can change the policy.
    const deployed = { program: account, buffer: keypair(156), authority: upgrader }
    deployProgram(world.svm, loadProgram('vault'), deployed)
    expect([update(next), update(upgrader)]).toEqual([UNAUTHORIZED, null])
  })
})
