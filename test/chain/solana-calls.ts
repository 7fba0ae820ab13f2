// Solana attestations of the running service in the Ed25519 program, and every way to change one field of them.
import { createHash } from 'node:crypto'
import bs58 from 'bs58'
import type { Attestation } from '../../src/client/attestation-types.ts'
import { type SolanaAttestedCall, solanaMessage } from '../../src/client/solana-attestation.ts'
import { ed25519Instruction } from '../../src/client/solana-instructions.ts'
import type { RunningService } from '../service/start-service.ts'
import { flipBit } from './attesting.ts'
import type { LocalSvm } from './svm.ts'

/** The Ed25519 program's errors: 0 is not a public key, 2 is not its signature. */
const REFUSED = /InstructionError \{ index: 0, error: InstructionErrorCustom \{ code: [02] \} \}/

const addressOf = (text: string): string => bs58.encode(createHash('sha256').update(text).digest())

/** The n-th call: wallets, lamports and call data changing. */
const solanaCall = ({ quickstart }: RunningService, n: number): Required<SolanaAttestedCall> => ({
  from: addressOf(`countersign test wallet ${n}`),
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

/**
 * The n-th attestation: asked of the service, each change of one field tried, then accepted. Resolves to the number of
 * changes that the Ed25519 program refused.
 * @throws Error naming what was not as it should be.
 */
export const exerciseSolanaAttestation = async (service: RunningService, svm: LocalSvm, n: number): Promise<number> => {
  const call = solanaCall(service, n)
  const attestation = await attest(service, call)
  const send = (
    calls: Partial<SolanaAttestedCall>,
    attestations: Partial<Attestation>,
    prefix?: string,
  ): string | null => {
    const changed = { ...attestation, ...attestations }
    return svm.send(ed25519Instruction(changed, solanaMessage({ ...call, ...calls }, changed, prefix)))
  }
  const signature = flipBit(attestation.signature as `0x${string}`, n % 64)
  const outcomes: Readonly<Record<string, string | null>> = {
    from: send({ from: call.to }, {}),
    to: send({ to: call.from }, {}),
    policy: send({ verificationHash: `${call.verificationHash}0` }, {}),
    data: send({ data: `${call.data}00` }, {}),
    lamports: send({ lamports: call.lamports + 1n }, {}),
    uuid: send({}, { uuid: crypto.randomUUID() }),
    expiration: send({}, { expiration: attestation.expiration + 1 }),
    attester: send({}, { attester: addressOf(`countersign test attester ${n}`) }),
    signature: send({}, { signature }),
    prefix: send({}, {}, 'another_prefix'),
  }
  for (const [field, outcome] of Object.entries(outcomes)) {
    if (outcome === null) throw new Error(`attestation ${n}: accepted with another ${field}`)
    if (!REFUSED.test(outcome)) throw new Error(`attestation ${n} with another ${field} failed otherwise: ${outcome}`)
  }
  const accepted = send({}, {})
  if (accepted !== null) throw new Error(`attestation ${n} was refused: ${accepted}`)
  return Object.keys(outcomes).length
}
