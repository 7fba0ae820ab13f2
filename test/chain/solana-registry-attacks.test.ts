// What an attacker can give the registry program beside a true attestation: other instructions in front of it, other
// accounts in its places, data that is cut or goes on. None of it is accepted (threats row 39).
import { beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import {
  Ed25519Program,
  Keypair,
  PublicKey,
  SYSVAR_INSTRUCTIONS_PUBKEY,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js'
import fc from 'fast-check'
import type { Attestation } from '../../src/client/attestation-types.ts'
import { accountOf } from '../../src/client/solana-accounts.ts'
import { solanaMessage } from '../../src/client/solana-attestation.ts'
import { validateAttestationInstruction } from '../../src/client/solana-instructions.ts'
import { setPolicyInstruction } from '../../src/client/solana-registry.ts'
import { testKey } from '../signing/test-keys.ts'
import { acceptingProgram } from './accepting-program.ts'
import { attest, createSolanaWorld, errorOf, keypair, POLICY, type SolanaWorld, START_SECONDS } from './solana-world.ts'
import { describeOnSvm } from './svm.ts'

const LATER = START_SECONDS + 300
const NOT_THIS_SIGNATURE = 6011
const EXPIRED = 6018
const WRONG_ADDRESS = 2006
const THIS_INSTRUCTION = 0xffff

const PLACES = ['registry', 'attester', 'policy', 'usedUuid', 'signer', 'system', 'sysvar'] as const
type Place = (typeof PLACES)[number]

interface Ed25519Fields {
  readonly count: number
  readonly signatureAt: number
  readonly signatureIn: number
  readonly keyAt: number
  readonly keyIn: number
  readonly messageAt: number
  readonly messageLength: number
  readonly messageIn: number
}

describeOnSvm('an attacker of the registry program', () => {
  let world: SolanaWorld
  beforeAll(() => {
    world = createSolanaWorld()
  })

  /** A true attestation, its two instructions and what each is made of. */
  const fresh = () => {
    const call = world.call()
    const attestation = attest(call, world.nextUuid(), LATER, 140)
    const [check, validation] = world.instructions(call, attestation)
    return { call, attestation, check, validation }
  }
  const run = (...instructions: TransactionInstruction[]) => errorOf(world.svm.run(instructions, [world.user]))
  const pause = () =>
    SystemProgram.transfer({
      fromPubkey: world.svm.payer.publicKey,
      toPubkey: world.svm.payer.publicKey,
      lamports: 1,
    })

  /** The Ed25519 program's instruction with these header fields over a body of key, signature, message. */
  const ed25519 = (
    attestation: Attestation,
    message: Uint8Array,
    fields: Partial<Ed25519Fields>,
    more = Buffer.alloc(0),
  ) => {
    const header: Ed25519Fields = {
      count: 1,
      signatureAt: 48,
      signatureIn: THIS_INSTRUCTION,
      keyAt: 16,
      keyIn: THIS_INSTRUCTION,
      messageAt: 112,
      messageLength: message.length,
      messageIn: THIS_INSTRUCTION,
      ...fields,
    }
    const { signatureAt, signatureIn, keyAt, keyIn, messageAt, messageLength, messageIn } = header
    const words = Buffer.alloc(14)
    for (const [index, word] of [
      signatureAt,
      signatureIn,
      keyAt,
      keyIn,
      messageAt,
      messageLength,
      messageIn,
    ].entries()) {
      words.writeUInt16LE(word, 2 * index)
    }
    const key = new PublicKey(attestation.attester).toBytes()
    const signature = Buffer.from(attestation.signature.slice(2), 'hex')
    const data = Buffer.concat([Buffer.from([header.count, 0]), words, key, signature, message, more])
    return new TransactionInstruction({ programId: Ed25519Program.programId, keys: [], data })
  }

  describe('who has a true attestation', () => {
    test.each([
      ['no signature check', ({ validation }: ReturnType<typeof fresh>) => [validation]],
      ['the check after it', ({ check, validation }: ReturnType<typeof fresh>) => [pause(), validation, check]],
      ['something in between', ({ check, validation }: ReturnType<typeof fresh>) => [check, pause(), validation]],
      ['another instruction in the check’s place', ({ validation }: ReturnType<typeof fresh>) => [pause(), validation]],
    ])('is refused with %s', (_, order) => {
      expect(run(...order(fresh()))).toBe(NOT_THIS_SIGNATURE)
    })

    test('spends it with one check once, not twice', () => {
      const { check, validation } = fresh()
      expect(run(check, validation, validation)).toBe(NOT_THIS_SIGNATURE)
      expect(run(check, validation, check, validation)).toBe(6016)
      expect(run(check, validation)).toBeNull()
    })

    test('can put its check’s parts at other places of the same instruction', () => {
      const { call, attestation, validation } = fresh()
      const message = solanaMessage(call, attestation)
      const moved = ed25519(attestation, message, {}, Buffer.concat([message, message]))
      moved.data.writeUInt16LE(112 + 64, 10)
      expect(run(moved, validation)).toBeNull()
    })
  })

  describe('whose check names other places', () => {
    /** The Ed25519 program checks the attester's signature over another call; what the registry reads is this one's. */
    const forged = (fields: Partial<Ed25519Fields>) => {
      const { call, attestation } = fresh()
      const otherCall = world.call({ lamports: 6n })
      const other = attest(otherCall, attestation.uuid, LATER, 140)
      const forgery = { ...attestation, signature: other.signature }
      const valid = ed25519(other, solanaMessage(otherCall, other), {})
      const [, validation] = world.instructions(call, forgery)
      return run(valid, ed25519(forgery, solanaMessage(call, forgery), fields), validation)
    }

    test.each<[string, Partial<Ed25519Fields>]>([
      ['the signature and message of another instruction', { signatureIn: 0, keyIn: 0, messageIn: 0 }],
      ['its message from another instruction', { messageIn: 0 }],
      ['its key and message from another instruction', { keyIn: 0, messageIn: 0 }],
    ])('takes %s', (_, fields) => {
      expect(forged(fields)).toBe(NOT_THIS_SIGNATURE)
    })

    test('names itself by its number instead of the usual word', () => {
      const { call, attestation, validation } = fresh()
      for (const field of ['signatureIn', 'keyIn', 'messageIn'] as const) {
        const check = ed25519(attestation, solanaMessage(call, attestation), { [field]: 0 })
        expect(run(check, validation)).toBe(NOT_THIS_SIGNATURE)
      }
    })

    test('checks two signatures, or none', () => {
      const { call, attestation, validation } = fresh()
      const message = solanaMessage(call, attestation)
      const none = ed25519(attestation, message, { count: 0 })
      // The Ed25519 program itself refuses data after the header of no signature.
      expect(run(none, validation)).toBe(4)
      const empty = new TransactionInstruction({
        programId: Ed25519Program.programId,
        keys: [],
        data: Buffer.from([0, 0]),
      })
      expect(run(empty, validation)).toBe(NOT_THIS_SIGNATURE)
      const words = ed25519(attestation, message, {}).data.subarray(2, 16)
      const shifted = Buffer.from(words)
      for (const at of [0, 4, 8]) shifted.writeUInt16LE(words.readUInt16LE(at) + 14, at)
      const body = ed25519(attestation, message, {}).data.subarray(16)
      const data = Buffer.concat([Buffer.from([2, 0]), shifted, shifted, body])
      const two = new TransactionInstruction({ programId: Ed25519Program.programId, keys: [], data })
      expect(run(two, pause())).toBeNull()
      expect(run(two, validation)).toBe(NOT_THIS_SIGNATURE)
    })

    test('checks a longer message that begins like the statement', () => {
      const { attestation, call } = fresh()
      const message = Buffer.concat([solanaMessage(call, attestation), Buffer.from([0])])
      const check = Ed25519Program.createInstructionWithPrivateKey({ privateKey: keypair(140).secretKey, message })
      const signature = `0x${check.data.subarray(48, 112).toString('hex')}` as const
      const [, validation] = world.instructions(call, { ...attestation, signature })
      expect(run(check, validation)).toBe(NOT_THIS_SIGNATURE)
    })

    test('has it made by a program that checks nothing', () => {
      const accepting = keypair(180).publicKey
      world.svm.addProgram(accepting, acceptingProgram(), accepting)
      const { check, validation } = fresh()
      expect(run(new TransactionInstruction({ ...check, programId: accepting }), validation)).toBe(NOT_THIS_SIGNATURE)
    })

    test('gives the check an account', () => {
      const { check, validation } = fresh()
      const keys = [{ pubkey: world.user.publicKey, isSigner: false, isWritable: false }]
      expect(run(new TransactionInstruction({ ...check, keys }), validation)).toBe(NOT_THIS_SIGNATURE)
    })

    test('has a stranger’s signature checked', () => {
      const { call, attestation, validation } = fresh()
      const message = solanaMessage(call, attestation)
      const check = Ed25519Program.createInstructionWithPrivateKey({ privateKey: keypair(143).secretKey, message })
      expect(run(check, validation)).toBe(NOT_THIS_SIGNATURE)
    })
  })

  describe('who puts another account in a place', () => {
    const swap = (validation: TransactionInstruction, place: Place, pubkey: PublicKey) => {
      const keys = validation.keys.map((key, at) => (at === PLACES.indexOf(place) ? { ...key, pubkey } : key))
      return new TransactionInstruction({ ...validation, keys })
    }
    const addressAt = (validation: TransactionInstruction, place: Place) =>
      validation.keys[PLACES.indexOf(place)]!.pubkey

    test('of the right data and another owner', () => {
      const outcomes = (['registry', 'attester', 'policy'] as const).map((place) => {
        const { check, validation } = fresh()
        const copy = Keypair.generate().publicKey
        const account = world.svm.account(addressAt(validation, place))!
        world.svm.setAccount(copy, { ...account, owner: new PublicKey(world.target) })
        return run(check, swap(validation, place, copy))
      })
      expect(outcomes).toEqual([6005, 6012, 6022])
    })

    test('of another kind, or another’s', () => {
      const { check, validation } = fresh()
      const other = fresh().validation
      const attester = attest(world.call(), world.nextUuid(), LATER, 141)
      const otherAttester = addressAt(
        validateAttestationInstruction(world.registry, world.call(), attester),
        'attester',
      )
      // The same policy, of an account that is no program.
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

    test('that looks like the instructions sysvar and is none', () => {
      const { check, validation } = fresh()
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

    test('for a wallet that has not signed', () => {
      const { check, validation } = fresh()
      const keys = validation.keys.map((key) => ({ ...key, isSigner: false }))
      const unsigned = new TransactionInstruction({ ...validation, keys })
      expect(errorOf(world.svm.run([check, unsigned]))).toMatch(/MissingRequiredSignature/)
    })

    test('of random data, of the program or of anyone', () => {
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
      const { check, validation } = fresh()
      const copy = Keypair.generate().publicKey
      fc.assert(
        fc.property(arbitrary, ({ place, kind, length, bytes, isOwn }) => {
          // With random bytes the attester and target are never the right ones; the registry is one that has the kind.
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

  describe('who sends other data', () => {
    test('cut anywhere, or longer', () => {
      const { check, validation } = fresh()
      const send = (data: Buffer) => run(check, new TransactionInstruction({ ...validation, data }))
      for (let length = 0; length < validation.data.length; length += 3) {
        expect(send(validation.data.subarray(0, length))).toMatch(/InvalidInstructionData/)
      }
      expect(send(Buffer.concat([validation.data, Buffer.from([0])]))).toMatch(/InvalidInstructionData/)
      const huge = Buffer.from(validation.data)
      huge.writeUInt32LE(0xffffffff, 48)
      expect(send(huge)).toMatch(/InvalidInstructionData/)
      expect(run(check, validation)).toBeNull()
    })

    test('or fewer accounts', () => {
      const { check, validation } = fresh()
      for (let count = 0; count < validation.keys.length; count++) {
        const keys = validation.keys.slice(0, count)
        const outcome = run(check, new TransactionInstruction({ ...validation, keys }))
        expect(outcome).toMatch(/NotEnoughAccountKeys/)
      }
    })

    test('with an expiration at either end of what 8 bytes hold', () => {
      const outcomes = [2n ** 63n - 1n, -(2n ** 63n), -1n, 0n].map((expiration) => {
        const { call, attestation, validation } = fresh()
        const bytes = Buffer.alloc(8)
        bytes.writeBigInt64LE(expiration)
        const hash = createHash('sha256').update('predicate_solana_attestation')
        hash.update(Buffer.from(attestation.uuid.replaceAll('-', ''), 'hex'))
        hash.update(new PublicKey(call.from).toBytes()).update(new PublicKey(call.to).toBytes())
        const lamports = Buffer.alloc(8)
        lamports.writeBigUInt64LE(call.lamports)
        hash.update(lamports).update(
          createHash('sha256')
            .update(Buffer.from(call.data.slice(2), 'hex'))
            .digest(),
        )
        hash.update(createHash('sha256').update(call.verificationHash).digest()).update(bytes)
        const check = Ed25519Program.createInstructionWithPrivateKey({
          privateKey: Keypair.fromSeed(testKey(140)).secretKey,
          message: hash.digest(),
        })
        const signature = check.data.subarray(48, 112)
        const data = Buffer.concat([validation.data.subarray(0, -72), signature, bytes])
        return run(check, new TransactionInstruction({ ...validation, data }))
      })
      expect(outcomes).toEqual([null, EXPIRED, EXPIRED, EXPIRED])
    })
  })
})
