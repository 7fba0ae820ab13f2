// Decodes a simulated request like a real one, so that rules behave the same.

import { closed, type Static, Type } from '../../../admin/schema.ts'
import { timeOf } from '../../../admin/time.ts'
import {
  isHexBytes,
  parseAddress,
  parseRepresented,
  parseSolanaAddress,
  type WalletAddress,
  zeroAddressOf,
} from '../../../domain/address.ts'
import type { AttestationRequest } from '../../../domain/attestation.ts'
import type { ChainTable } from '../../../domain/chain.ts'
import { FieldInvalidError, FieldMissingError } from '../../../domain/errors.ts'

export const SIMULATED_REQUEST = closed({
  chain: Type.Optional(Type.String({ maxLength: 100 })),
  from: Type.Optional(Type.String({ maxLength: 100, description: 'Wallet of the end user' })),
  on_behalf: Type.Optional(Type.String({ maxLength: 100, description: 'User whom `from` represents' })),
  to: Type.Optional(
    Type.String({ maxLength: 100, description: 'Contract or program; omit it for requests with a verification hash' }),
  ),
  data: Type.Optional(Type.String({ maxLength: 131_074, description: 'Call data, 0x-hex' })),
  msg_value: Type.Optional(Type.String({ maxLength: 78, description: 'Wei or lamports, decimal' })),
  user_ip: Type.Optional(Type.String({ maxLength: 64 })),
  time: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601. Defaults to now' })),
})

/** uint256 in wei, u64 in lamports. */
const BITS = { evm: 256n, solana: 64n } as const

export const decodeSimulatedRequest = (
  request: Static<typeof SIMULATED_REQUEST>,
  chains: ChainTable,
  nowSeconds: number,
): AttestationRequest => {
  if (request.chain === undefined) throw new FieldMissingError('request.chain')
  if (request.from === undefined) throw new FieldMissingError('request.from')
  const chain = chains.byName(request.chain)
  if (chain === undefined) {
    throw new FieldInvalidError('request.chain', `must be one of ${chains.chains.map(({ name }) => name).join(', ')}`)
  }
  // A recorded decision may contain a Solana user in base58 on any chain.
  const parseOnBehalf: typeof parseAddress = (family, text) =>
    parseRepresented(family, text) ?? parseSolanaAddress(text)
  const address = (name: 'from' | 'on_behalf' | 'to', text: string): WalletAddress => {
    const parsed = (name === 'on_behalf' ? parseOnBehalf : parseAddress)(chain.family, text)
    if (parsed === null) throw new FieldInvalidError(`request.${name}`, `must be a valid address on ${chain.name}`)
    return parsed
  }
  const { data = '0x', msg_value: value = '0' } = request
  if (!isHexBytes(data))
    throw new FieldInvalidError('request.data', 'must be 0x followed by an even number of hex digits')
  if (!/^(0|[1-9][0-9]*)$/.test(value) || BigInt(value) >> BITS[chain.family] !== 0n) {
    throw new FieldInvalidError('request.msg_value', 'must be a whole number within the range of the chain')
  }
  return {
    chain,
    from: address('from', request.from),
    onBehalf: request.on_behalf === undefined ? '' : address('on_behalf', request.on_behalf),
    to: request.to === undefined ? zeroAddressOf(chain.family) : address('to', request.to),
    value,
    data,
    userIp: request.user_ip ?? '',
    nowSeconds: request.time === undefined ? nowSeconds : Math.floor(timeOf('request.time', request.time) / 1000),
  }
}
