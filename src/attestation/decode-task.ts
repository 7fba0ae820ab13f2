// Decodes the body of `POST /v1/task` (spec A2; decisions §3). The first rule that fails is the answer, in this order:
//   1. `from`, `to`, `data`, `msg_value`: there, and a string        3. `from`, then `to` is an EVM address
//   2. `chain_id` is a uint64, and supported                         4. `data`, then `msg_value`
// `value` stands in for a missing `msg_value`, and `chain_id` may be decimal text: older clients send both. An empty
// call is `0x`; an empty text is a missing field.
import type { TaskRequest } from '../domain/attestation.ts'
import type { ChainTable, EvmChain } from '../domain/chain.ts'
import { ChainUnsupportedError, FieldInvalidError } from '../domain/errors.ts'
import type { JsonObject, JsonValue } from '../http/strict-json.ts'
import { decodeAddress, decodeData, decodeValue, isCanonicalDecimal, isUint64, requireText } from './schema.ts'

/** Ethereum mainnet (spec, "Task request"). */
const CHAIN_ID_DEFAULT = 1

/** The decimal text of a uint64, or null. A JSON number over 2^53 was rounded by the parser and reads as rounded. */
const chainIdText = (value: JsonValue): string | null => {
  if (typeof value === 'number') return Number.isInteger(value) && value >= 0 ? BigInt(value).toString() : null
  return typeof value === 'string' && value.length <= 20 && isCanonicalDecimal(value) ? value : null
}

/** @throws FieldInvalidError, ChainUnsupportedError */
const decodeChainId = (value: JsonValue | undefined, chains: ChainTable): EvmChain => {
  const chainId = value ?? CHAIN_ID_DEFAULT
  if (typeof chainId === 'number') {
    const chain = chains.byId(chainId)
    if (chain !== undefined) return chain
  }
  const text = chainIdText(chainId)
  if (text === null || !isUint64(text)) {
    throw new FieldInvalidError('chain_id', 'must be a whole number from 0 to 18446744073709551615')
  }
  // Chain ids are below 2^53, and a text above that never rounds to less.
  const chain = chains.byId(Number(text))
  if (chain === undefined) throw new ChainUnsupportedError(text)
  return chain
}

/**
 * A v1 body as a complete, canonical request.
 * @throws FieldMissingError, FieldInvalidError, ChainUnsupportedError: all 400
 */
export const decodeTaskRequest = (body: JsonObject, chains: ChainTable): TaskRequest => {
  const fromText = requireText('from', body['from'])
  const toText = requireText('to', body['to'])
  const dataText = requireText('data', body['data'])
  const valueText = requireText('msg_value', body['msg_value'] ?? body['value'])
  const chain = decodeChainId(body['chain_id'], chains)
  const from = decodeAddress('from', fromText, 'evm')
  const to = decodeAddress('to', toText, 'evm')
  const data = decodeData(dataText)
  const msgValue = decodeValue(valueText, 'evm')
  return { chain, from, to, toAsSent: toText, data, msgValue }
}
