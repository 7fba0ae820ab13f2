// Decodes the body of `POST /v2/attestation` (spec A1; decisions §2). The first failing rule determines the error:
//   0. a field resembles a known name (for `to`, only if rule 2 fails)
//   1. `from`, then `chain` is missing or not a string    4. `from` is not an address of the chain's family
//   2. both or neither of `to` and `verification_hash`    5. `to`, or `verification_hash` is invalid
//   3. `chain` is unsupported                             6. `data`, `msg_value`, `user_ip`, `on_behalf` is invalid
// Other unknown fields are ignored, because existing clients send some (decisions §1).
import { zeroAddressOf } from '../domain/address.ts'
import type { ChainTable } from '../domain/chain.ts'
import { FieldInvalidError, FieldMissingError, fixedError } from '../domain/errors.ts'
import type { OptionalField } from '../domain/target.ts'
import { parseIpAddress } from '../lib/ip-address.ts'
import type { JsonObject } from '../server/strict-json.ts'
import {
  alternativeText,
  type DecodedRequest,
  decodeAddress,
  decodeData,
  decodeOnBehalf,
  decodeValue,
  decodeVerificationHash,
  optionalText,
  refuseMisspelt,
  refuseMisspeltFields,
  requireChain,
  requireText,
} from './schema.ts'

const ATTESTATION_FIELDS: ReadonlySet<string> = new Set([
  'from',
  'chain',
  'to',
  'verification_hash',
  'data',
  'msg_value',
  'user_ip',
  'on_behalf',
  'idempotency_key',
])

class TargetAmbiguousError extends fixedError(
  'AMBIGUOUS_TARGET',
  'request validation failed: specify either to or verification_hash, not both',
) {}

const decodeUserIp = (text: string): string => {
  const address = parseIpAddress(text)
  if (address === null) throw new FieldInvalidError('user_ip', 'must be an IPv4 or IPv6 address')
  return address
}

/** @throws FieldMissingError, FieldInvalidError, TargetAmbiguousError, ChainUnsupportedError: all 400 */
export const decodeAttestationRequest = (body: JsonObject, chains: ChainTable, nowSeconds: number): DecodedRequest => {
  refuseMisspeltFields(body, ATTESTATION_FIELDS)
  const fromText = requireText('from', body['from'])
  const chainName = requireText('chain', body['chain'])
  const toText = alternativeText('to', body['to'])
  const hashText = alternativeText('verification_hash', body['verification_hash'])
  if (toText === null && hashText === null) {
    refuseMisspelt('to', body, ATTESTATION_FIELDS)
    throw new FieldMissingError('to or verification_hash')
  }
  if (toText !== null && hashText !== null) throw new TargetAmbiguousError()
  const chain = requireChain(chains, chainName)
  const { family } = chain
  const from = decodeAddress('from', fromText, family)
  const to = toText === null ? zeroAddressOf(family) : decodeAddress('to', toText, family)
  const targetText = toText ?? decodeVerificationHash(hashText ?? '')
  const dataText = optionalText('data', body['data'])
  const data = dataText === null ? '0x' : decodeData(dataText)
  const valueText = optionalText('msg_value', body['msg_value'])
  const value = valueText === null ? '0' : decodeValue(valueText, family)
  const userIpText = optionalText('user_ip', body['user_ip'])
  const userIp = userIpText === null ? '' : decodeUserIp(userIpText)
  const onBehalf = decodeOnBehalf(body['on_behalf'], family)
  const missing: OptionalField[] = []
  if (dataText === null) missing.push('data')
  if (valueText === null) missing.push('msg_value')
  if (userIpText === null) missing.push('user_ip')
  const request = { chain, from, onBehalf, to, value, data, userIp, nowSeconds }
  return { request, targetBy: toText === null ? 'verification hash' : 'address', targetText, missing }
}
