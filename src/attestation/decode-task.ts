// Decodes the body of `POST /v1/task` (spec A2; decisions §3). The first failing rule determines the error:
//   1. `from`, `to`, `data`, `msg_value` is missing or not a string   3. `from`, then `to` is not an EVM address
//   2. `chain_id` is not a uint64, or unsupported                     4. `data`, `msg_value`, `value` or `on_behalf`
//                                                                        is invalid
// Older clients send `value` instead of `msg_value`, and `chain_id` as decimal text. If both amounts are present, they
// must be equal. An empty call is `0x`; an empty string counts as a missing field.
import type { ChainTable, EvmChain } from '../domain/chain.ts'
import { ChainUnsupportedError, FieldInvalidError } from '../domain/errors.ts'
import type { OptionalField } from '../domain/target.ts'
import type { JsonObject, JsonValue } from '../server/strict-json.ts'
import {
  type DecodedRequest,
  decodeAddress,
  decodeData,
  decodeOnBehalf,
  decodeValue,
  isCanonicalDecimal,
  isUint64,
  refuseMisspelt,
  refuseMisspeltFields,
  requireText,
} from './schema.ts'

/** Misspelled fields are refused: ignoring `chainId` would select the default chain, Ethereum. */
const TASK_FIELDS: ReadonlySet<string> = new Set(['from', 'to', 'data', 'msg_value', 'value', 'chain_id', 'on_behalf'])

/** Default chain: Ethereum mainnet (spec, "Task request"). */
const CHAIN_ID_DEFAULT = 1

/** The parser may have rounded JSON numbers of 2^53 or higher. */
const chainIdText = (value: JsonValue): string | null => {
  if (typeof value === 'number') return value >= 0 ? value.toString() : null
  return typeof value === 'string' && value.length <= 20 && isCanonicalDecimal(value) ? value : null
}

const decodeChainId = (value: JsonValue | undefined, chains: ChainTable): EvmChain => {
  const chainId = value ?? CHAIN_ID_DEFAULT
  if (typeof chainId === 'number') {
    const chain = chains.byId(chainId)
    if (chain !== undefined) return chain
    if (!Number.isSafeInteger(chainId)) {
      throw new FieldInvalidError('chain_id', 'must be an integer up to 2^53, or a decimal string')
    }
  }
  const text = chainIdText(chainId)
  if (text === null || !isUint64(text)) {
    throw new FieldInvalidError('chain_id', 'must be an integer from 0 to 18446744073709551615')
  }
  // Chain ids are below 2^53, and larger text never rounds to a smaller number.
  const chain = chains.byId(Number(text))
  if (chain === undefined) throw new ChainUnsupportedError(text)
  return chain
}

/** Returns true for an amount in decimal or hex notation. */
const isAmount = (value: JsonValue, amount: string): boolean =>
  typeof value === 'string' &&
  /^(?:0x[0-9a-fA-F]{1,64}|[0-9]{1,78})$/.test(value) &&
  BigInt(value).toString() === amount

/** v1 has no field for the end user's IP address, and all other fields are mandatory. */
const MISSING: readonly OptionalField[] = ['user_ip']

/** @throws FieldMissingError, FieldInvalidError, ChainUnsupportedError: all 400 */
export const decodeTaskRequest = (body: JsonObject, chains: ChainTable, nowSeconds: number): DecodedRequest => {
  refuseMisspeltFields(body, TASK_FIELDS)
  const fromText = requireText('from', body['from'])
  if ((body['to'] ?? '') === '') refuseMisspelt('to', body, TASK_FIELDS)
  const toText = requireText('to', body['to'])
  const dataText = requireText('data', body['data'])
  const valueText = requireText('msg_value', body['msg_value'] ?? body['value'])
  const chain = decodeChainId(body['chain_id'], chains)
  const from = decodeAddress('from', fromText, 'evm')
  const to = decodeAddress('to', toText, 'evm')
  const data = decodeData(dataText)
  const value = decodeValue(valueText, 'evm')
  const other = body['value'] ?? ''
  if (other !== '' && !isAmount(other, value)) throw new FieldInvalidError('value', 'must be equal to msg_value')
  const onBehalf = decodeOnBehalf(body['on_behalf'], 'evm')
  const request = { chain, from, onBehalf, to, value, data, userIp: '', nowSeconds }
  return { request, targetBy: 'address', targetText: toText, missing: MISSING }
}
