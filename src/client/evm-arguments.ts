// Converts attestations to arguments of IPolicyRegistry and ITaskVerifier, in the form that viem and ethers encode.
import type { Attestation, AttestationRequest, CompliantAnswer, CompliantTask } from './attestation-types.ts'
import { ArgumentInvalidError } from './errors.ts'

export const EVM_CHAIN_IDS: Readonly<Record<string, number>> = {
  ethereum: 1,
  base: 8453,
  arbitrum: 42161,
  hyperliquid: 999,
  plume: 98866,
  bsc: 56,
  plasma: 9745,
  worldchain: 480,
  sepolia: 11155111,
  megaeth: 4326,
  'megaeth-testnet': 6343,
}

/** Call covered by an attestation. */
export interface EvmAttestedCall {
  readonly chainId: number
  readonly from: string
  /** Zero address for off-chain use. */
  readonly to: string
  /** Requested project; if the request names none, `verification_hash` of the response. */
  readonly verificationHash: string
  /** `data` of the request. Defaults to `0x`. */
  readonly data?: string
  /** `msg_value` of the request, in wei. Defaults to 0. */
  readonly wei?: bigint
}

export interface AttestationArgument {
  readonly uuid: string
  readonly expiration: bigint
  readonly attester: `0x${string}`
  readonly signature: `0x${string}`
}

export interface StatementArgument {
  readonly uuid: string
  readonly msgSender: `0x${string}`
  readonly target: `0x${string}`
  readonly msgValue: bigint
  readonly encodedSigAndArgs: `0x${string}`
  readonly policy: string
  readonly expiration: bigint
}

export interface TaskMessageArgument {
  readonly taskId: string
  readonly expiry: bigint
  readonly signerAddresses: readonly `0x${string}`[]
  readonly signatures: readonly `0x${string}`[]
}

const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000'

const matching = (argument: string, text: string, form: RegExp, expected: string): `0x${string}` => {
  if (!form.test(text)) throw new ArgumentInvalidError(argument, expected)
  return text as `0x${string}`
}

/** Returns a lowercase address, which every encoder accepts; mixed case would need a valid EIP-55 checksum. */
const address = (argument: string, text: string): `0x${string}` =>
  matching(argument, text.toLowerCase(), /^0x[0-9a-f]{40}$/, 'must be 0x followed by 40 hex digits')

const signature = (argument: string, text: string): `0x${string}` =>
  matching(argument, text, /^0x[0-9a-fA-F]{130}$/, 'must be 0x followed by 65 bytes of hex')

const seconds = (argument: string, value: number): bigint => {
  if (!Number.isSafeInteger(value) || value < 0) throw new ArgumentInvalidError(argument, 'must be a whole number')
  return BigInt(value)
}

/**
 * Returns the attestation argument of a guarded contract. @throws ArgumentInvalidError unless it is for an EVM chain
 */
export const attestationArgument = (attestation: Attestation): AttestationArgument => ({
  uuid: attestation.uuid,
  expiration: seconds('expiration', attestation.expiration),
  attester: address('attester', attestation.attester),
  signature: signature('signature', attestation.signature),
})

/**
 * Returns the argument of a registry's `validateAttestation` and `hashStatementWithExpiry`. @throws
 * ArgumentInvalidError
 */
export const statementArgument = (
  call: EvmAttestedCall,
  attestation: Pick<Attestation, 'uuid' | 'expiration'>,
): StatementArgument => {
  const wei = call.wei ?? 0n
  if (wei < 0n || wei >= 2n ** 256n) throw new ArgumentInvalidError('wei', 'must be from 0 to 2^256 - 1')
  return {
    uuid: attestation.uuid,
    msgSender: address('from', call.from),
    target: address('to', call.to),
    msgValue: wei,
    encodedSigAndArgs: matching(
      'data',
      call.data ?? '0x',
      /^0x(?:[0-9a-fA-F]{2})*$/,
      'must be 0x followed by an even number of hex digits',
    ),
    policy: call.verificationHash,
    expiration: seconds('expiration', attestation.expiration),
  }
}

/**
 * Returns the call as requested, never as named by the response.
 * @param chainId required for chains that aren't in EVM_CHAIN_IDS @throws ArgumentInvalidError
 */
export const evmAttestedCall = (
  request: AttestationRequest,
  answer: Pick<CompliantAnswer, 'verificationHash'>,
  chainId: number | undefined = EVM_CHAIN_IDS[request.chain],
): EvmAttestedCall => {
  if (chainId === undefined) throw new ArgumentInvalidError('chainId', `is required for the chain ${request.chain}`)
  return {
    chainId,
    from: request.from,
    to: request.to ?? ZERO_ADDRESS,
    verificationHash: request.verificationHash ?? answer.verificationHash,
    data: request.data ?? '0x',
    wei: request.msgValue ?? 0n,
  }
}

/** Returns the argument of a contract guarded by v1 tasks. @throws ArgumentInvalidError */
export const taskMessageArgument = (task: CompliantTask): TaskMessageArgument => ({
  taskId: task.taskId,
  expiry: seconds('expiryBlock', task.expiryBlock),
  signerAddresses: task.signers.map((signer) => address('signers', signer)),
  signatures: task.signatures.map((text) => signature('signatures', text)),
})
