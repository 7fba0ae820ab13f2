// Forged accounts and data, which the validation of the registry program refuses (threats row 41). Forged signature checks:
// solana-registry-checks.test.ts.
import { beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { Ed25519Program, Keypair, PublicKey, SYSVAR_INSTRUCTIONS_PUBKEY, TransactionInstruction } from '@solana/web3.js'
import fc from 'fast-check'
import { accountOf } from '../../src/client/solana-accounts.ts'
import { validateAttestationInstruction } from '../../src/client/solana-instructions.ts'
import { setPolicyInstruction } from '../../src/client/solana-registry.ts'
import {
  attest,
  createAttackedWorld,
  errorOf,
  expectExactLengths,
  keypair,
  POLICY,
  START_SECONDS,
  withAccount,
} from './solana-world.ts'
import { describeOnSvm } from './svm.ts'

const LATER = START_SECONDS + 300
const EXPIRED = 6018
const WRONG_ADDRESS = 2006

const PLACES = ['registry', 'attester', 'policy', 'usedUuid', 'signer', 'system', 'sysvar'] as const
type Place = (typeof PLACES)[number]

describeOnSvm('an attacker of the registry program', () => {
  let { world, run, pause } = {} as ReturnType<typeof createAttackedWorld>
  beforeAll(() => {
    ;({ world, run, pause } = createAttackedWorld())
  })

  describe('with another account', () => {
    const swap = (validation: TransactionInstruction, place: Place, pubkey: PublicKey) =>
      withAccount(validation, PLACES.indexOf(place), pubkey)
    const addressAt = (validation: TransactionInstruction, place: Place) =>
      validation.keys[PLACES.indexOf(place)]!.pubkey

    test('is refused with valid data from another owner', () => {
      const outcomes = (['registry', 'attester', 'policy'] as const).map((place) => {
        const { check, validation } = world.attested()
        const copy = Keypair.generate().publicKey
        const account = world.svm.account(addressAt(validation, place))!
        world.svm.setAccount(copy, { ...account, owner: new PublicKey(world.target) })
        return run(check, swap(validation, place, copy))
      })
      expect(outcomes).toEqual([6005, 6012, 6022])
    })

    test('is refused with accounts of another kind or another owner', () => {
      const { check, validation } = world.attested()
      const other = world.attested().validation
      const attester = attest(world.call(), world.nextUuid(), LATER, 141)
      const ofAttester = validateAttestationInstruction(world.registry, world.call(), attester)
      const otherAttester = addressAt(ofAttester, 'attester')
      // The same policy of an account without a program.
      const elsewhere = { target: keypair(181).publicKey.toBase58(), authority: world.user.publicKey.toBase58() }
      const set = setPolicyInstruction(world.registry, elsewhere, POLICY, { targetSigns: true })
      world.must(set, keypair(181), world.user)
      const otherPolicy = accountOf(new PublicKey(world.registry), 'policy', keypair(181).publicKey.toBytes())
      const swapped = (place: Place, pubkey: PublicKey) => run(check, swap(validation, place, pubkey))
      expect({
        policyAsRegistry: swapped('registry', addressAt(validation, 'policy')),
        registryAsAttester: swapped('attester', addressAt(validation, 'registry')),
        attesterAsPolicy: swapped('policy', addressAt(validation, 'attester')),
        otherPolicy: swapped('policy', otherPolicy),
        otherAttester: swapped('attester', otherAttester),
        otherUuid: swapped('usedUuid', addressAt(other, 'usedUuid')),
        emptyUuid: swapped('usedUuid', Keypair.generate().publicKey),
        userAsUuid: swapped('usedUuid', world.user.publicKey),
        system: swapped('system', new PublicKey(world.registry)),
        sysvar: swapped('sysvar', addressAt(validation, 'registry')),
      }).toEqual({
        policyAsRegistry: 6005,
        registryAsAttester: 6012,
        attesterAsPolicy: 6022,
        otherPolicy: 6027,
        otherAttester: 6012,
        otherUuid: WRONG_ADDRESS,
        emptyUuid: WRONG_ADDRESS,
        userAsUuid: WRONG_ADDRESS,
        system: 3008,
        sysvar: 6021,
      })
      expect(run(check, validation)).toBeNull()
    })

    test('is refused with a forged instructions sysvar', () => {
      const { check, validation } = world.attested()
      const copy = Keypair.generate().publicKey
      world.svm.setAccount(copy, {
        owner: new PublicKey('Sysvar1111111111111111111111111111111111111'),
        lamports: 10_000_000,
        executable: false,
        data: Buffer.concat([Buffer.from([2, 0, 6, 0, 6, 0]), check.data, Buffer.from([1, 0])]),
      })
      expect(run(pause(), swap(validation, 'sysvar', copy))).toBe(6021)
      expect(SYSVAR_INSTRUCTIONS_PUBKEY.equals(addressAt(validation, 'sysvar'))).toBe(true)
    })

    test('is refused without the signature of the wallet', () => {
      const { check, validation } = world.attested()
      const keys = validation.keys.map((key) => ({ ...key, isSigner: false }))
      const unsigned = new TransactionInstruction({ ...validation, keys })
      expect(errorOf(world.svm.run([check, unsigned]))).toMatch(/MissingRequiredSignature/)
    })

    test('is refused with random data from any owner', () => {
      const kinds = ['PredicateRegistry', 'AttesterAccount', 'PolicyAccount', 'SpentUuid', 'nothing of it'].map(
        (name) => createHash('sha256').update(`account:${name}`).digest().subarray(0, 8),
      )
      const lengths = [0, 7, 8, 49, 64, 104, 157]
      const arbitrary = fc.record({
        place: fc.constantFrom<Place>('registry', 'attester', 'policy', 'usedUuid', 'sysvar'),
        kind: fc.constantFrom(...kinds),
        length: fc.oneof(fc.constantFrom(...lengths), fc.nat(300)),
        bytes: fc.uint8Array({ minLength: 300, maxLength: 300 }),
        isOwn: fc.boolean(),
      })
      const { check, validation } = world.attested()
      const copy = Keypair.generate().publicKey
      fc.assert(
        fc.property(arbitrary, ({ place, kind, length, bytes, isOwn }) => {
          // A registry account needs only the right kind and owner, so its owner is always another.
          const data = Buffer.concat([kind, bytes]).subarray(0, length)
          const owner = isOwn && place !== 'registry' ? new PublicKey(world.registry) : new PublicKey(world.target)
          world.svm.setAccount(copy, { owner, lamports: 10_000_000, executable: false, data })
          expect(typeof run(check, swap(validation, place, copy))).toBe('number')
        }),
        { numRuns: 150 },
      )
      expect(run(check, validation)).toBeNull()
    })
  })

  describe('with invalid data', () => {
    test('is refused with truncated or trailing data, a longer length, or fewer accounts', () => {
      const { check, validation } = world.attested()
      expectExactLengths(validation, (changed) => run(check, changed))
      const data = Buffer.from(validation.data)
      data.writeUInt32LE(0xffffffff, 48)
      expect(run(check, new TransactionInstruction({ ...validation, data }))).toMatch(/InvalidInstructionData/)
      expect(run(check, validation)).toBeNull()
    })

    test('is refused with an expiration of 0 or less, and accepted with the largest', () => {
      const outcomes = [2n ** 63n - 1n, -(2n ** 63n), -1n, 0n].map((expiration) => {
        const { call, attestation, validation } = world.attested()
        const bytes = Buffer.alloc(8)
        bytes.writeBigInt64LE(expiration)
        const lamports = Buffer.alloc(8)
        lamports.writeBigUInt64LE(call.lamports)
        const sha256 = (data: Uint8Array | string) => createHash('sha256').update(data).digest()
        const parts = [
          Buffer.from('predicate_solana_attestation'),
          Buffer.from(attestation.uuid.replaceAll('-', ''), 'hex'),
          new PublicKey(call.from).toBytes(),
          new PublicKey(call.to).toBytes(),
          lamports,
          sha256(Buffer.from(call.data.slice(2), 'hex')),
          sha256(call.verificationHash),
          bytes,
        ]
        const message = sha256(Buffer.concat(parts))
        const check = Ed25519Program.createInstructionWithPrivateKey({ privateKey: keypair(140).secretKey, message })
        const signature = check.data.subarray(48, 112)
        const data = Buffer.concat([validation.data.subarray(0, -72), signature, bytes])
        return run(check, new TransactionInstruction({ ...validation, data }))
      })
      expect(outcomes).toEqual([null, EXPIRED, EXPIRED, EXPIRED])
    })
  })
})
