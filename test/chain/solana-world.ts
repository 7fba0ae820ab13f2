// A Solana machine with an initialized registry program, a guarded program with a policy, two registered attesters and a
// user, and attestations of our signing code.
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
import type { Deployment } from './solana-deployment.ts'
import { type LocalSvm, type SvmOutcome, startLocalSvm } from './svm.ts'

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

/** Replaces an account of the instruction. */
export const withAccount = (
  instruction: TransactionInstruction,
  at: number,
  pubkey: PublicKey,
): TransactionInstruction =>
  new TransactionInstruction({
    ...instruction,
    keys: instruction.keys.map((key, index) => (index === at ? { ...key, pubkey } : key)),
  })

/** Removes the signature requirement of an account. */
export const withoutSignature = (instruction: TransactionInstruction, at: number): TransactionInstruction =>
  new TransactionInstruction({
    ...instruction,
    keys: instruction.keys.map((key, index) => (index === at ? { ...key, isSigner: false } : key)),
  })

export const loadProgram = (name: ProgramName): Buffer => readFileSync(programFile(name))

export const deploymentOf = (number: number): Deployment => ({
  program: keypair(number),
  buffer: keypair(number + 1),
  authority: keypair(number + 2),
})

export interface SolanaWorld {
  readonly svm: LocalSvm
  readonly registry: string
  readonly registryDeployment: Deployment
  /** The guarded program: the vault, with a policy of its upgrade authority. */
  readonly target: string
  readonly targetDeployment: Deployment
  readonly user: Keypair
  /** Numbers of the registered attesters' keys. */
  readonly attesters: readonly [number, number]
  /** Runs an instruction. @throws Error if it fails */
  must(instruction: TransactionInstruction, ...signers: readonly Keypair[]): SvmOutcome
  /** Returns a new, reproducible uuid. */
  nextUuid(): string
  call(changes?: Partial<SolanaAttestedCall>): Required<SolanaAttestedCall>
  /** Returns a valid attestation for five minutes, and its two instructions. */
  attested(): {
    readonly call: Required<SolanaAttestedCall>
    readonly attestation: Attestation
    readonly check: TransactionInstruction
    readonly validation: TransactionInstruction
  }
  /** Returns the signature check and the validation. */
  instructions(call: SolanaAttestedCall, attestation: Attestation): [TransactionInstruction, TransactionInstruction]
  /** Runs both, signed by the user. */
  spend(call: SolanaAttestedCall, attestation: Attestation): SvmOutcome
}

export const createSolanaWorld = (rules?: 'usual' | 'all'): SolanaWorld => {
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

  const must = (instruction: TransactionInstruction, ...signers: readonly Keypair[]): SvmOutcome => {
    const outcome = svm.run([instruction], signers)
    if (outcome.error !== null) throw new Error(outcome.error)
    return outcome
  }
  must(initializeRegistryInstruction(registry, authority), registryDeployment.authority)
  const attesters = [140, 141] as const
  for (const number of attesters) {
    const attester = keypair(number).publicKey.toBase58()
    must(registerAttesterInstruction(registry, authority, attester), registryDeployment.authority)
  }
  const change = { target, authority: targetDeployment.authority.publicKey.toBase58() }
  must(setPolicyInstruction(registry, change, POLICY), targetDeployment.authority)

  const nextUuid = (): string => {
    uuids += 1
    return `00000000-0000-4000-8000-${uuids.toString(16).padStart(12, '0')}`
  }
  const call: SolanaWorld['call'] = (changes) => {
    const from = user.publicKey.toBase58()
    return { from, to: target, verificationHash: POLICY, data: '0x0700', lamports: 5n, ...changes }
  }
  return {
    svm,
    registry,
    registryDeployment,
    target,
    targetDeployment,
    user,
    attesters,
    must,
    nextUuid,
    call,
    attested: () => {
      const asked = call()
      const attestation = attest(asked, nextUuid(), START_SECONDS + 300, attesters[0])
      const [check, validation] = solanaAttestationInstructions(registry, asked, attestation)
      return { call: asked, attestation, check, validation }
    },
    instructions: (asked, attestation) => solanaAttestationInstructions(registry, asked, attestation),
    spend: (asked, attestation) => svm.run(solanaAttestationInstructions(registry, asked, attestation), [user]),
  }
}

/** Creates a world whose user is an attacker; `pause` returns an instruction without effect. */
export const createAttackedWorld = () => {
  const world = createSolanaWorld()
  const run = (...instructions: TransactionInstruction[]) => errorOf(world.svm.run(instructions, [world.user]))
  const { publicKey } = world.svm.payer
  const pause = () => SystemProgram.transfer({ fromPubkey: publicKey, toPubkey: publicKey, lamports: 1 })
  return { world, run, pause }
}
