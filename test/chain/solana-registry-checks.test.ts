// Forged signature checks, which the registry program refuses: wrong order, wrong offsets, wrong program (threats
// row 41).
import { beforeAll, describe, expect, test } from 'bun:test'
import { Ed25519Program, PublicKey, TransactionInstruction } from '@solana/web3.js'
import type { Attestation } from '../../src/client/attestation-types.ts'
import { solanaMessage } from '../../src/client/solana-attestation.ts'
import { acceptingProgram } from './accepting-program.ts'
import { attest, createAttackedWorld, keypair, type SolanaWorld, START_SECONDS } from './solana-world.ts'
import { describeOnSvm } from './svm.ts'

const LATER = START_SECONDS + 300
const NOT_THIS_SIGNATURE = 6011
const THIS_INSTRUCTION = 0xffff

/** Number of signatures, instruction indexes and offsets of the header. */
interface Ed25519Fields {
  readonly count: number
  readonly signatureIn: number
  readonly keyIn: number
  readonly messageIn: number
}
type Attested = ReturnType<SolanaWorld['attested']>

describeOnSvm('an attacker of the registry program', () => {
  let { world, run, pause } = {} as ReturnType<typeof createAttackedWorld>
  beforeAll(() => {
    ;({ world, run, pause } = createAttackedWorld())
  })

  /** Returns an Ed25519 instruction with these header fields and a body of key, signature and message. */
  const ed25519 = (
    attestation: Attestation,
    message: Uint8Array,
    fields: Partial<Ed25519Fields>,
    more = Buffer.alloc(0),
  ) => {
    const own = THIS_INSTRUCTION
    const { count, signatureIn, keyIn, messageIn } = {
      count: 1,
      signatureIn: own,
      keyIn: own,
      messageIn: own,
      ...fields,
    }
    const words = Buffer.alloc(14)
    for (const [index, word] of [48, signatureIn, 16, keyIn, 112, message.length, messageIn].entries()) {
      words.writeUInt16LE(word, 2 * index)
    }
    const key = new PublicKey(attestation.attester).toBytes()
    const signature = Buffer.from(attestation.signature.slice(2), 'hex')
    const data = Buffer.concat([Buffer.from([count, 0]), words, key, signature, message, more])
    return new TransactionInstruction({ programId: Ed25519Program.programId, keys: [], data })
  }

  describe('with a valid attestation', () => {
    test.each([
      ['no signature check', ({ validation }: Attested) => [validation]],
      ['the check after the validation', ({ check, validation }: Attested) => [pause(), validation, check]],
      ['an instruction in between', ({ check, validation }: Attested) => [check, pause(), validation]],
      ['another instruction in place of the check', ({ validation }: Attested) => [pause(), validation]],
    ])('is refused with %s', (_, order) => {
      expect(run(...order(world.attested()))).toBe(NOT_THIS_SIGNATURE)
    })

    test('spends it only once per check', () => {
      const { check, validation } = world.attested()
      expect(run(check, validation, validation)).toBe(NOT_THIS_SIGNATURE)
      expect(run(check, validation, check, validation)).toBe(6016)
      expect(run(check, validation)).toBeNull()
    })

    test('can use other offsets in the same check', () => {
      const { call, attestation, validation } = world.attested()
      const message = solanaMessage(call, attestation)
      const moved = ed25519(attestation, message, {}, Buffer.concat([message, message]))
      moved.data.writeUInt16LE(112 + 64, 10)
      expect(run(moved, validation)).toBeNull()
    })
  })

  describe('with another check', () => {
    /** The Ed25519 program checks a signature over another call, and the registry reads this call. */
    const forged = (fields: Partial<Ed25519Fields>) => {
      const { call, attestation } = world.attested()
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
    ])('cannot use %s', (_, fields) => {
      expect(forged(fields)).toBe(NOT_THIS_SIGNATURE)
    })

    test('cannot refer to the check by its index', () => {
      const { call, attestation, validation } = world.attested()
      for (const field of ['signatureIn', 'keyIn', 'messageIn'] as const) {
        const check = ed25519(attestation, solanaMessage(call, attestation), { [field]: 0 })
        expect(run(check, validation)).toBe(NOT_THIS_SIGNATURE)
      }
    })

    test('cannot check two signatures or no signature', () => {
      const { call, attestation, validation } = world.attested()
      const message = solanaMessage(call, attestation)
      const none = ed25519(attestation, message, { count: 0 })
      // The Ed25519 program refuses data after the header of no signature.
      expect(run(none, validation)).toBe(4)
      const { programId } = Ed25519Program
      const empty = new TransactionInstruction({ programId, keys: [], data: Buffer.from([0, 0]) })
      expect(run(empty, validation)).toBe(NOT_THIS_SIGNATURE)
      const words = ed25519(attestation, message, {}).data.subarray(2, 16)
      const shifted = Buffer.from(words)
      for (const at of [0, 4, 8]) shifted.writeUInt16LE(words.readUInt16LE(at) + 14, at)
      const body = ed25519(attestation, message, {}).data.subarray(16)
      const data = Buffer.concat([Buffer.from([2, 0]), shifted, shifted, body])
      const two = new TransactionInstruction({ programId, keys: [], data })
      expect(run(two, pause())).toBeNull()
      expect(run(two, validation)).toBe(NOT_THIS_SIGNATURE)
    })

    test('cannot check a longer message that starts with the statement', () => {
      const { attestation, call } = world.attested()
      const message = Buffer.concat([solanaMessage(call, attestation), Buffer.from([0])])
      const check = Ed25519Program.createInstructionWithPrivateKey({ privateKey: keypair(140).secretKey, message })
      const signature = `0x${check.data.subarray(48, 112).toString('hex')}` as const
      const [, validation] = world.instructions(call, { ...attestation, signature })
      expect(run(check, validation)).toBe(NOT_THIS_SIGNATURE)
    })

    test('cannot use a program that checks nothing', () => {
      const accepting = keypair(180).publicKey
      world.svm.addProgram(accepting, acceptingProgram(), accepting)
      const { check, validation } = world.attested()
      expect(run(new TransactionInstruction({ ...check, programId: accepting }), validation)).toBe(NOT_THIS_SIGNATURE)
    })

    test('cannot add an account to the check', () => {
      const { check, validation } = world.attested()
      const keys = [{ pubkey: world.user.publicKey, isSigner: false, isWritable: false }]
      expect(run(new TransactionInstruction({ ...check, keys }), validation)).toBe(NOT_THIS_SIGNATURE)
    })

    test('cannot check the signature of an unknown key', () => {
      const { call, attestation, validation } = world.attested()
      const message = solanaMessage(call, attestation)
      const check = Ed25519Program.createInstructionWithPrivateKey({ privateKey: keypair(143).secretKey, message })
      expect(run(check, validation)).toBe(NOT_THIS_SIGNATURE)
    })
  })
})
