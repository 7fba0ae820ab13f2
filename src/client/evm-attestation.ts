// Verifies EVM attestations offline. Needs viem. Layout: docs/decisions.md §2, "What EVM signs".
import { encodeAbiParameters, keccak256, recoverAddress } from 'viem'
import type { Attestation } from './attestation-types.ts'
import { ArgumentInvalidError } from './errors.ts'
import { attestationArgument, type EvmAttestedCall, statementArgument } from './evm-arguments.ts'

const DIGEST_PARAMETERS = [
  { type: 'uint256' },
  { type: 'string' },
  { type: 'address' },
  { type: 'address' },
  { type: 'uint256' },
  { type: 'bytes' },
  { type: 'string' },
  { type: 'uint256' },
] as const

/** Half of the order of secp256k1; registries reject a larger s. */
const S_MAX = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/** Returns the 32 signed bytes. @throws ArgumentInvalidError */
export const evmDigest = (
  call: EvmAttestedCall,
  attestation: Pick<Attestation, 'uuid' | 'expiration'>,
): `0x${string}` => {
  if (!Number.isSafeInteger(call.chainId) || call.chainId < 1) {
    throw new ArgumentInvalidError('chainId', 'must be a whole number of at least 1')
  }
  const statement = statementArgument(call, attestation)
  return keccak256(
    encodeAbiParameters(DIGEST_PARAMETERS, [
      BigInt(call.chainId),
      statement.uuid,
      statement.msgSender,
      statement.target,
      statement.msgValue,
      statement.encodedSigAndArgs,
      statement.policy,
      statement.expiration,
    ]),
  )
}

/**
 * Returns whether the attester signed exactly this call, in the only encoding that registries accept. The caller must
 * check that the attester is trusted and the attestation hasn't expired. @throws ArgumentInvalidError
 */
export const verifyEvmAttestation = async (call: EvmAttestedCall, attestation: Attestation): Promise<boolean> => {
  const { attester, signature } = attestationArgument(attestation)
  const digest = evmDigest(call, attestation)
  const s = BigInt(`0x${signature.slice(66, 130)}`)
  const v = Number.parseInt(signature.slice(130), 16)
  if (s > S_MAX || (v !== 27 && v !== 28)) return false
  try {
    return (await recoverAddress({ hash: digest, signature })).toLowerCase() === attester
  } catch {
    return false
  }
}
