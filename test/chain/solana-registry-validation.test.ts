// Validation in the registry program: each attestation is accepted once, and refused with any change (threats row 7).
// Accounts and instructions of an attacker: solana-registry-attacks.test.ts.
import { beforeAll, describe, expect, test } from 'bun:test'
import { type PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import fc from 'fast-check'
import { solanaRegistryAccounts } from '../../src/client/solana-instructions.ts'
import {
  closeSpentUuidInstruction,
  deregisterAttesterInstruction,
  registerAttesterInstruction,
  setPolicyInstruction,
  updatePolicyInstruction,
} from '../../src/client/solana-registry.ts'
import { solanaStatement } from '../signing/arbitraries.ts'
import { attest, createSolanaWorld, errorOf, keypair, POLICY, type SolanaWorld, START_SECONDS } from './solana-world.ts'
import { describeOnSvm } from './svm.ts'

const LATER = START_SECONDS + 300
const UUID_USED = 6016
const NOT_EXPIRED = 6017
const EXPIRED = 6018
const NOT_THIS_SIGNATURE = 6011
const NOT_REGISTERED = 6012

for (const rules of ['usual', 'all'] as const) {
  describeOnSvm(`the registry program, ${rules} features`, () => {
    let world: SolanaWorld
    beforeAll(() => {
      world = createSolanaWorld(rules)
    })
    /** Runs at this second, and then resets the clock. */
    const at = <Result>(seconds: number, run: () => Result): Result => {
      world.svm.setSeconds(BigInt(seconds))
      const result = run()
      world.svm.setSeconds(BigInt(START_SECONDS))
      return result
    }

    describe('an attestation', () => {
      test('is accepted once, and the validation returns true', () => {
        const call = world.call()
        const attestation = attest(call, world.nextUuid(), LATER, 140)
        const { error, returned } = world.spend(call, attestation)
        expect(error).toBeNull()
        expect([...returned]).toEqual([1])
        expect(errorOf(world.spend(call, attestation))).toBe(UUID_USED)
      })

      test('needs no write access to the registry and attester accounts', () => {
        const { check, validation } = world.attested()
        const keys = validation.keys.map((key, at) => (at < 2 ? { ...key, isWritable: false } : key))
        const readOnly = new TransactionInstruction({ ...validation, keys })
        expect(world.svm.run([check, readOnly], [world.user]).error).toBeNull()
      })

      test('for any statement is accepted', () => {
        const registered = { authority: world.targetDeployment.authority.publicKey.toBase58(), target: world.target }
        for (const statement of fc.sample(solanaStatement, 25)) {
          // Limited to the size of a transaction and to valid policies.
          const data = statement.data.slice(0, 2 + 2 * 400)
          const policy = statement.policy.replaceAll(/[^\x21-\x7e]/g, '').slice(0, 64) || POLICY
          world.must(updatePolicyInstruction(world.registry, registered, policy), world.targetDeployment.authority)
          const call = world.call({ data, lamports: statement.lamports, verificationHash: policy })
          const attestation = attest(call, statement.uuid, LATER, 141)
          expect(world.spend(call, attestation).error).toBeNull()
          expect(errorOf(world.spend(call, attestation))).toBe(UUID_USED)
        }
        world.must(updatePolicyInstruction(world.registry, registered, POLICY), world.targetDeployment.authority)
      })

      test('is accepted until 30 s after its expiration', () => {
        const call = world.call()
        const [early, last, late] = [0, 30, 31].map((drift) => {
          const attestation = attest(call, world.nextUuid(), LATER, 140)
          return at(LATER + drift, () => errorOf(world.spend(call, attestation)))
        })
        expect([early, last, late]).toEqual([null, null, EXPIRED])
      })

      test('with the largest expiration is accepted', () => {
        const call = world.call()
        const far = attest(call, world.nextUuid(), Number.MAX_SAFE_INTEGER, 140)
        expect(world.spend(call, far).error).toBeNull()
      })

      test('is accepted if its uuid’s address has lamports', () => {
        const call = world.call()
        const funded = [1n, 10_000_000n].map((lamports) => {
          const attestation = attest(call, world.nextUuid(), LATER, 140)
          world.svm.give(solanaRegistryAccounts(world.registry, call, attestation).usedUuid, lamports)
          const first = errorOf(world.spend(call, attestation))
          return [first, errorOf(world.spend(call, attestation))]
        })
        expect(funded).toEqual(Array(2).fill([null, UUID_USED]))
      })
    })

    test('no field of an attestation can be changed', () => {
      const other = keypair(131)
      world.svm.give(other.publicKey, 10_000_000_000n)
      // Another account with the same policy, so that only the target differs.
      const change = { target: other.publicKey.toBase58(), authority: other.publicKey.toBase58() }
      world.must(setPolicyInstruction(world.registry, change, POLICY, { targetSigns: true }), other)
      const call = world.call()
      const attestation = attest(call, world.nextUuid(), LATER, 140)
      const [check] = world.instructions(call, attestation)
      const validate = (calls: Partial<typeof call>, attestations: Partial<typeof attestation>) => {
        const [, validation] = world.instructions({ ...call, ...calls }, { ...attestation, ...attestations })
        const signers = calls.from === undefined ? [world.user] : [other]
        return errorOf(world.svm.run([check, validation], signers))
      }
      const flipped = `0x${attestation.signature.slice(2, -1)}${attestation.signature.endsWith('0') ? '1' : '0'}`
      const outcomes = {
        from: validate({ from: other.publicKey.toBase58() }, {}),
        to: validate({ to: other.publicKey.toBase58() }, {}),
        data: validate({ data: '0x0701' }, {}),
        longer: validate({ data: '0x070000' }, {}),
        lamports: validate({ lamports: 6n }, {}),
        uuid: validate({}, { uuid: world.nextUuid() }),
        expiration: validate({}, { expiration: attestation.expiration + 1 }),
        attester: validate({}, { attester: keypair(141).publicKey.toBase58() }),
        signature: validate({}, { signature: flipped as `0x${string}` }),
      }
      const refused = Object.keys(outcomes).map((field) => [field, NOT_THIS_SIGNATURE])
      expect(outcomes).toEqual(Object.fromEntries(refused))
      // The policy comes from the account, not from the caller.
      const authority = world.targetDeployment.authority.publicKey.toBase58()
      const policyChange = { target: world.target, authority }
      world.must(updatePolicyInstruction(world.registry, policyChange, 'x-another'), world.targetDeployment.authority)
      expect(errorOf(world.spend(call, attestation))).toBe(NOT_THIS_SIGNATURE)
      world.must(updatePolicyInstruction(world.registry, policyChange, POLICY), world.targetDeployment.authority)
      expect(world.spend(call, attestation).error).toBeNull()
    })

    test('an unregistered or deregistered attester is refused', () => {
      const call = world.call()
      const authority = world.registryDeployment.authority
      const key = authority.publicKey.toBase58()
      const third = keypair(142).publicKey.toBase58()
      const spend = () => errorOf(world.spend(call, attest(call, world.nextUuid(), LATER, 142)))
      const outcomes = [spend()]
      for (const change of [registerAttesterInstruction, deregisterAttesterInstruction, registerAttesterInstruction]) {
        world.must(change(world.registry, key, third), authority)
        outcomes.push(spend())
      }
      expect(outcomes).toEqual([NOT_REGISTERED, null, NOT_REGISTERED, null])
    })

    describe('the account of a spent uuid', () => {
      const spent = () => {
        const call = world.call()
        const attestation = attest(call, world.nextUuid(), LATER, 140)
        expect(world.spend(call, attestation).error).toBeNull()
        const { usedUuid } = solanaRegistryAccounts(world.registry, call, attestation)
        const close = (payer: PublicKey = world.user.publicKey) =>
          errorOf(world.svm.run([closeSpentUuidInstruction(world.registry, attestation.uuid, payer.toBase58())]))
        return { call, attestation, usedUuid, close }
      }

      test('can be closed by anyone after its expiration, returns its rent, and cannot be spent again', () => {
        const { call, attestation, usedUuid, close } = spent()
        expect(close()).toBe(NOT_EXPIRED)
        expect(at(LATER + 30, () => close())).toBe(NOT_EXPIRED)
        const before = world.svm.account(world.user.publicKey)!.lamports
        const rent = world.svm.account(usedUuid)!.lamports
        expect(at(LATER + 31, () => close())).toBeNull()
        expect(world.svm.account(world.user.publicKey)!.lamports).toBe(before + rent)
        expect(world.svm.account(usedUuid)?.lamports ?? 0).toBe(0)
        expect(at(LATER + 31, () => errorOf(world.spend(call, attestation)))).toBe(EXPIRED)
        expect(at(LATER + 31, () => close())).toBe(6021)
      })

      test('returns its rent only to its payer', () => {
        const { close, usedUuid } = spent()
        for (const payer of [keypair(131).publicKey, SystemProgram.programId, usedUuid]) {
          expect(at(LATER + 31, () => close(payer))).toBe(6002)
        }
      })

      test('cannot be revived in the transaction that closes it', () => {
        const { attestation, usedUuid, close } = spent()
        const closing = closeSpentUuidInstruction(world.registry, attestation.uuid, world.user.publicKey.toBase58())
        const fromPubkey = world.svm.payer.publicKey
        const back = SystemProgram.transfer({ fromPubkey, toPubkey: usedUuid, lamports: 10_000_000 })
        expect(at(LATER + 31, () => world.svm.run([closing, back]).error)).toBeNull()
        const revived = world.svm.account(usedUuid)!
        expect([revived.owner.equals(SystemProgram.programId), revived.data.length]).toEqual([true, 0])
        expect(at(LATER + 31, () => close())).toBe(6021)
      })
    })
  })
}
