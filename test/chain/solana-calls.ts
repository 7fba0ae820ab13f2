// Solana attestations of the running service in the Ed25519 and registry programs, and every change of one field.
import { createHash } from 'node:crypto'
import { Keypair, PublicKey, type TransactionInstruction } from '@solana/web3.js'
import bs58 from 'bs58'
import type { Attestation } from '../../src/client/attestation-types.ts'
import { type SolanaAttestedCall, solanaMessage } from '../../src/client/solana-attestation.ts'
import { ed25519Instruction, validateAttestationInstruction } from '../../src/client/solana-instructions.ts'
import { registerAttesterInstruction, setPolicyInstruction } from '../../src/client/solana-registry.ts'
import type { RunningService } from '../service/start-service.ts'
import { flipBit } from './attesting.ts'
import { createSolanaWorld, errorOf, loadProgram, type SolanaWorld } from './solana-world.ts'

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest()
const addressOf = (text: string): string => bs58.encode(hashOf(text))

const walletOf = (n: number): Keypair => Keypair.fromSeed(hashOf(`countersign test wallet ${n}`))

/** Returns the n-th call, with different wallets, lamports and call data. */
const solanaCall = ({ quickstart }: RunningService, n: number): Required<SolanaAttestedCall> => ({
  from: walletOf(n).publicKey.toBase58(),
  to: quickstart['DEMO_PROGRAM'] ?? '',
  verificationHash: quickstart['VERIFICATION_HASH'] ?? '',
  data: `0x${createHash('sha512')
    .update(String(n))
    .digest('hex')
    .slice(0, 2 * (n % 65))}`,
  lamports: BigInt(n) * 1_000_000_007n,
})

const attest = async (service: RunningService, call: Required<SolanaAttestedCall>): Promise<Attestation> => {
  const { from, to, data, lamports } = call
  const response = await service.attest({ chain: 'solana', from, to, data, msg_value: lamports.toString() })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`no attestation: ${response.status} ${text}`)
  return (JSON.parse(text) as { attestation: Attestation }).attestation
}

/** Creates a world with the service's attester, and the demo program with the policy of the demo project. */
export const createServiceWorld = ({ quickstart }: RunningService): SolanaWorld => {
  const world = createSolanaWorld()
  const { svm, registry, registryDeployment, targetDeployment } = world
  const { authority } = registryDeployment
  const upgrader = targetDeployment.authority
  const attester = quickstart['SOLANA_ATTESTER'] ?? ''
  world.must(registerAttesterInstruction(registry, authority.publicKey.toBase58(), attester), authority)
  const target = quickstart['DEMO_PROGRAM'] ?? ''
  svm.addProgram(new PublicKey(target), loadProgram('vault'), upgrader.publicKey)
  const change = { target, authority: upgrader.publicKey.toBase58() }
  world.must(setPolicyInstruction(registry, change, quickstart['VERIFICATION_HASH'] ?? ''), upgrader)
  return world
}

/** Errors of the Ed25519 program: invalid public key, invalid signature. */
const BY_ED25519 = [0, 2]
/** Errors of the registry: wrong signature, wrong attester, expired, already spent, policy of another target. */
const BY_REGISTRY = [6011, 6012, 6016, 6018, 6022]

/**
 * Requests the n-th attestation, tries each change of one field, and spends it once. Returns the number of refused
 * transactions.
 * @throws Error with the field of an unexpected outcome
 */
export const exerciseSolanaAttestation = async (
  service: RunningService,
  { svm, registry }: SolanaWorld,
  n: number,
): Promise<number> => {
  const call = solanaCall(service, n)
  const attestation = await attest(service, call)
  const wallet = walletOf(n)
  const other = walletOf(-1)
  for (const { publicKey } of [wallet, other]) svm.give(publicKey, 10_000_000n)
  svm.setSeconds(BigInt(attestation.expiration))

  const send = (...instructions: TransactionInstruction[]) => errorOf(svm.run(instructions, [wallet, other]))
  const check = (calls: Partial<SolanaAttestedCall>, attestations: Partial<Attestation>, prefix?: string) => {
    const changed = { ...attestation, ...attestations }
    return ed25519Instruction(changed, solanaMessage({ ...call, ...calls }, changed, prefix))
  }
  const validate = (calls: Partial<SolanaAttestedCall>, attestations: Partial<Attestation>) =>
    validateAttestationInstruction(registry, { ...call, ...calls }, { ...attestation, ...attestations })
  type Change = readonly [field: string, calls: Partial<SolanaAttestedCall>, attestations: Partial<Attestation>]
  const changes: readonly Change[] = [
    ['from', { from: other.publicKey.toBase58() }, {}],
    ['to', { to: call.from }, {}],
    ['data', { data: `${call.data}00` }, {}],
    ['lamports', { lamports: call.lamports + 1n }, {}],
    ['uuid', {}, { uuid: crypto.randomUUID() }],
    ['expiration', {}, { expiration: attestation.expiration + 1 }],
    ['attester', {}, { attester: addressOf(`countersign test attester ${n}`) }],
    ['signature', {}, { signature: flipBit(attestation.signature as `0x${string}`, n % 64) }],
  ]
  let refused = 0
  const expectRefused = (what: string, outcome: number | string | null, reasons: readonly number[]): void => {
    if (outcome === null) throw new Error(`attestation ${n}: accepted with ${what}`)
    if (typeof outcome !== 'number' || !reasons.includes(outcome)) {
      throw new Error(`attestation ${n} with ${what} failed otherwise: ${outcome}`)
    }
    refused += 1
  }
  for (const [field, calls, attestations] of changes) {
    expectRefused(`another ${field}, checked`, send(check(calls, attestations)), BY_ED25519)
    expectRefused(`another ${field}`, send(check({}, {}), validate(calls, attestations)), BY_REGISTRY)
  }
  const policy = { verificationHash: `${call.verificationHash}0` }
  expectRefused('another policy', send(check(policy, {})), BY_ED25519)
  expectRefused('another prefix', send(check({}, {}, 'another_prefix')), BY_ED25519)
  expectRefused('no signature check', send(validate({}, {})), BY_REGISTRY)
  svm.setSeconds(BigInt(attestation.expiration + 31))
  expectRefused('an expired attestation', send(check({}, {}), validate({}, {})), BY_REGISTRY)
  svm.setSeconds(BigInt(attestation.expiration))
  const accepted = send(check({}, {}), validate({}, {}))
  if (accepted !== null) throw new Error(`attestation ${n} was refused: ${accepted}`)
  expectRefused('a spent uuid', send(check({}, {}), validate({}, {})), BY_REGISTRY)
  return refused
}
