// Decodes identity API requests (spec B1 and B4; decisions §5). Errors never repeat the input.
import type { WalletAddress } from '../domain/address.ts'
import type { ChainTable } from '../domain/chain.ts'
import { FieldInvalidError, FieldMissingError } from '../domain/errors.ts'
import { CHECK_TYPES, type CheckType, parseSessionType } from '../domain/session.ts'
import { parseWalletAddress } from '../domain/wallet.ts'
import { HTTPS_LINK_MAX, parseHttpsLink } from '../lib/https-link.ts'
import type { JsonObject, JsonValue } from '../server/strict-json.ts'

const QR_SIZE_MIN = 80
const QR_SIZE_MAX = 2_000
const QR_SIZE_DEFAULT = 300

const ADDRESS_RULE = 'must be an EVM address (0x followed by 40 hex digits) or a Solana address (32 bytes in base58)'

const optionalText = (field: string, value: JsonValue | undefined): string | null => {
  if (value === undefined || value === null) return null
  if (typeof value === 'string') return value
  throw new FieldInvalidError(field, 'must be a string')
}

const decodeWallet = (field: string, text: string): WalletAddress => {
  const wallet = parseWalletAddress(text)
  if (wallet === null) throw new FieldInvalidError(field, ADDRESS_RULE)
  return wallet.address
}

export const decodeSize = (parameters: URLSearchParams): number => {
  const values = parameters.getAll('size')
  if (values.length === 0) return QR_SIZE_DEFAULT
  const [text = ''] = values
  const size = /^[0-9]{1,4}$/.test(text) ? Number(text) : Number.NaN
  if (values.length > 1 || !(size >= QR_SIZE_MIN && size <= QR_SIZE_MAX)) {
    throw new FieldInvalidError('size', `must be a whole number from ${QR_SIZE_MIN} to ${QR_SIZE_MAX}`)
  }
  return size
}

export interface RegisterRequest {
  /** The only wallet that can connect; null if any can. */
  readonly walletAddress: WalletAddress | null
  /** Null if the request has no URL; a reused session then keeps its earlier URL. */
  readonly originUrl: string | null
}

/** Normalizes the URL. @throws FieldInvalidError */
export const decodeOriginUrl = (text: string): string => {
  const url = parseHttpsLink(text)
  if (url !== null) return url
  throw new FieldInvalidError(
    'originUrl',
    `must be an absolute https URL without credentials, of at most ${HTTPS_LINK_MAX} characters`,
  )
}

/** Ignores unspecified fields. @throws FieldInvalidError */
export const decodeRegister = (body: JsonObject): RegisterRequest => {
  const wallet = optionalText('walletAddress', body['walletAddress'])
  const origin = optionalText('originUrl', body['originUrl'])
  return {
    walletAddress: wallet === null ? null : decodeWallet('walletAddress', wallet),
    originUrl: origin === null ? null : decodeOriginUrl(origin),
  }
}

export interface VerifyRequest {
  readonly address: WalletAddress
  /** Address in the caller's spelling, for the response. */
  readonly addressAsSent: string
  readonly checkType: CheckType | null
  readonly chain: string | null
}

/** Matches every name that a response may contain; the set is open. */
const CHAIN_NAME = /^[A-Za-z0-9][A-Za-z0-9:_-]{0,63}$/

export const decodeVerify = (body: JsonObject, chains: Pick<ChainTable, 'byName'>): VerifyRequest => {
  const addressAsSent = optionalText('address', body['address'])
  if (addressAsSent === null || addressAsSent === '') throw new FieldMissingError('address')
  const address = decodeWallet('address', addressAsSent)
  const typeText = optionalText('type', body['type'])
  const type = typeText === null ? null : parseSessionType(typeText)
  if (typeText !== null && type === null) throw new FieldInvalidError('type', 'must be individual or business')
  const chainText = optionalText('chain', body['chain'])
  if (chainText !== null && !CHAIN_NAME.test(chainText))
    throw new FieldInvalidError('chain', 'must be the name of a chain')
  const chain = chainText === null ? null : (chains.byName(chainText)?.name ?? chainText)
  return { address, addressAsSent, checkType: type === null ? null : CHECK_TYPES[type], chain }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Returns the lowercase form of a UUID in any case; null for any other text, which can't be a session id. */
export const parseSessionId = (text: string): string | null => {
  const canonical = text.length === 36 ? text.toLowerCase() : ''
  return UUID.test(canonical) ? canonical : null
}
