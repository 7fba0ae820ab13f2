// A Solana machine with an initialized registry program, a guarded program with a policy, two registered attesters and a
// user, and attestations of our signing code.
import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { Keypair, type PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import bs58 from 'bs58'
import { type ProgramName, programFile } from '../../contracts/solana/build.ts'
import type { Attestation } from '../../src/client/attestation-types.ts'
import type { SolanaAttestedCall } from '../../src/client/solana-attestation.ts'
import { solanaAttestationInstructions } from '../../src/client/solana-instructions.ts'
import {
  initializeRegistryInstruction,
  registerAttesterInstruction,
  setPolicyInstruction,
} from '../../src/client/solana-registry.ts'
import { createEd25519Signer } from '../../src/signing/ed25519.ts'
import { solanaMessageBuilder } from '../signing/statements.ts'
import { testKey } from '../signing/test-keys.ts'
import { type Deployment, deployProgram } from './solana-deployment.ts'
import { type SvmOutcome, startLocalSvm } from './svm.ts'

export const START_SECONDS = 2_000_000_000
export const POLICY = 'x-0123456789abcdef'
const LAMPORTS = 100_000_000_000n

/** Returns the test key with this number; 100 is the payer. */
export const keypair = (number: number): Keypair => Keypair.fromSeed(testKey(number))

const buildMessage = solanaMessageBuilder()

/** Attests the call with our message and signer. */
export const attest = (call: Required<SolanaAttestedCall>, uuid: string, seconds: number, key: number): Attestation => {
  const signer = createEd25519Signer(testKey(key))
  const { verificationHash: policy, ...others } = call
  const message = buildMessage({ ...others, uuid, policy, expirationSeconds: seconds })
  const signature = `0x${signer.sign(message).toHex()}` as const
  return { uuid, expiration: seconds, attester: bs58.encode(signer.publicKey), signature }
}

/** Returns the error number of the program, or the error text of the runtime; null if there is no error. */
export const errorOf = ({ error }: Pick<SvmOutcome, 'error'>): number | string | null => {
  const custom = /Custom \{ code: ([0-9]+) \}/.exec(error ?? '')
  return custom === null ? error : Number(custom[1])
}

export const textOf = ({ publicKey }: Keypair): string => publicKey.toBase58()

const withMeta = (instruction: TransactionInstruction, at: number, change: { pubkey?: PublicKey; isSigner?: false }) =>
  new TransactionInstruction({
    ...instruction,
    keys: instruction.keys.map((key, index) => (index === at ? { ...key, ...change } : key)),
  })

/** Replaces an account of the instruction. */
export const withAccount = (instruction: TransactionInstruction, at: number, pubkey: PublicKey) =>
  withMeta(instruction, at, { pubkey })

/** Removes the signature requirement of an account. */
export const withoutSignature = (instruction: TransactionInstruction, at: number) =>
  withMeta(instruction, at, { isSigner: false })

/** Expects that truncated data, trailing data and fewer accounts are refused. */
export const expectExactLengths = (
  instruction: TransactionInstruction,
  run: (changed: TransactionInstruction) => number | string | null,
): void => {
  const { data, keys } = instruction
  const truncated = Array.from(data, (_, length) => data.subarray(0, length))
  for (const bytes of [...truncated, Buffer.concat([data, Buffer.from([0])])]) {
    expect(run(new TransactionInstruction({ ...instruction, data: bytes }))).toMatch(/InvalidInstructionData/)
  }
  for (let count = 0; count < keys.length; count += 1) {
    const fewer = new TransactionInstruction({ ...instruction, keys: keys.slice(0, count) })
    expect(run(fewer)).toMatch(/NotEnoughAccountKeys/)
  }
}

export const loadProgram = (name: ProgramName): Buffer => readFileSync(programFile(name))

export const deploymentOf = (number: number): Deployment => ({
  program: keypair(number),
  buffer: keypair(number + 1),
  authority: keypair(number + 2),
})

export const createSolanaWorld = (rules?: 'usual' | 'all') => {
  const svm = startLocalSvm(rules)
  svm.setSeconds(BigInt(START_SECONDS))
  const registryDeployment = deploymentOf(110)
  const targetDeployment = deploymentOf(120)
  const user = keypair(130)
  for (const { publicKey } of [user, registryDeployment.authority, targetDeployment.authority]) {
    svm.give(publicKey, LAMPORTS)
  }
  svm.addProgram(registryDeployment.program.publicKey, loadProgram('registry'), registryDeployment.authority.publicKey)
  svm.addProgram(targetDeployment.program.publicKey, loadProgram('vault'), targetDeployment.authority.publicKey)
  const registry = registryDeployment.program.publicKey.toBase58()
  const target = targetDeployment.program.publicKey.toBase58()
  const authority = registryDeployment.authority.publicKey.toBase58()
  let uuids = 0

  /** Runs an instruction. @throws Error if it fails */
  const must = (instruction: TransactionInstruction, ...signers: readonly Keypair[]): SvmOutcome => {
    const outcome = svm.run([instruction], signers)
    if (outcome.error !== null) throw new Error(outcome.error)
    return outcome
  }
  must(initializeRegistryInstruction(registry, authority), registryDeployment.authority)
  /** Numbers of the registered attesters' keys. */
  const attesters = [140, 141] as const
  for (const number of attesters) {
    const attester = keypair(number).publicKey.toBase58()
    must(registerAttesterInstruction(registry, authority, attester), registryDeployment.authority)
  }
  const change = { target, authority: targetDeployment.authority.publicKey.toBase58() }
  must(setPolicyInstruction(registry, change, POLICY), targetDeployment.authority)

  /** Returns a new, reproducible uuid. */
  const nextUuid = (): string => {
    uuids += 1
    return `00000000-0000-4000-8000-${uuids.toString(16).padStart(12, '0')}`
  }
  const call = (changes: Partial<SolanaAttestedCall> = {}): Required<SolanaAttestedCall> => {
    const from = user.publicKey.toBase58()
    return { from, to: target, verificationHash: POLICY, data: '0x0700', lamports: 5n, ...changes }
  }
  return {
    svm,
    registry,
    registryDeployment,
    /** The guarded program: the vault, with a policy of its upgrade authority. */
    target,
    targetDeployment,
    user,
    attesters,
    must,
    nextUuid,
    call,
    /** Returns a valid attestation for five minutes, and its two instructions. */
    attested: () => {
      const attestedCall = call()
      const attestation = attest(attestedCall, nextUuid(), START_SECONDS + 300, attesters[0])
      const [check, validation] = solanaAttestationInstructions(registry, attestedCall, attestation)
      return { call: attestedCall, attestation, check, validation }
    },
    /** Returns the signature check and the validation. */
    instructions: (attestedCall: SolanaAttestedCall, attestation: Attestation) =>
      solanaAttestationInstructions(registry, attestedCall, attestation),
    /** Runs both, signed by the user. */
    spend: (attestedCall: SolanaAttestedCall, attestation: Attestation) =>
      svm.run(solanaAttestationInstructions(registry, attestedCall, attestation), [user]),
    /** Deploys another program. */
    deploy: (name: ProgramName): Deployment => {
      const deployment = deploymentOf(160)
      svm.give(deployment.authority.publicKey, LAMPORTS)
      deployProgram(svm, loadProgram(name), deployment)
      return deployment
    },
  }
}
export type SolanaWorld = ReturnType<typeof createSolanaWorld>

/** Creates a world whose user is an attacker; `pause` returns an instruction without effect. */
export const createAttackedWorld = () => {
  const world = createSolanaWorld()
  const run = (...instructions: TransactionInstruction[]) => errorOf(world.svm.run(instructions, [world.user]))
  const { publicKey } = world.svm.payer
  const pause = () => SystemProgram.transfer({ fromPubkey: publicKey, toPubkey: publicKey, lamports: 1 })
  return { world, run, pause }
}
