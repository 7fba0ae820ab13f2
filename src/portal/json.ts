// Reads the page's requests. Ignores unknown fields, because only the page sends them.
import { FieldInvalidError, FieldMissingError } from '../domain/errors.ts'
import { parseWalletAddress, type WalletOnChain } from '../domain/wallet.ts'
import { checksumAddress } from '../lib/checksum-address.ts'
import { readJsonBody } from '../server/json-body.ts'
import { type JsonObject, parseStrictJsonObject } from '../server/strict-json.ts'
import { AddressChecksumError } from './errors.ts'

/** Maximum size of a body: more than the largest body of the page, which contains a contract wallet's signature. */
const BODY_MAX_BYTES = 65_536

export const readObject = async (request: Request): Promise<JsonObject> =>
  parseStrictJsonObject(await readJsonBody(request, { maxBytes: BODY_MAX_BYTES }))

export const textOf = (body: JsonObject, field: string, maximum: number): string => {
  const value = body[field]
  if (value === undefined || value === null || value === '') throw new FieldMissingError(field)
  if (typeof value !== 'string' || value.length > maximum) {
    throw new FieldInvalidError(field, `must be a string of at most ${maximum} characters`)
  }
  return value
}

export const booleanOf = (body: JsonObject, field: string): boolean => {
  const value = body[field]
  if (typeof value !== 'boolean') throw new FieldInvalidError(field, 'must be true or false')
  return value
}

/** Reads an EIP-155 chain id. @throws FieldMissingError, FieldInvalidError */
const chainIdOf = (body: JsonObject): number => {
  const value = body['chainId'] ?? null
  if (value === null) throw new FieldMissingError('chainId')
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) {
    throw new FieldInvalidError('chainId', 'must be a whole number from 1 to 9007199254740991')
  }
  return value
}

const ADDRESS_MAX = 64
const hasBothCases = (text: string): boolean => /[a-f]/.test(text) && /[A-F]/.test(text)

/**
 * A typed address in mixed case must match its EIP-55 checksum.
 * @throws FieldMissingError, FieldInvalidError, AddressChecksumError
 */
export const decodeWalletOnChain = (body: JsonObject): WalletOnChain => {
  const text = textOf(body, 'address', ADDRESS_MAX).trim()
  const wallet = parseWalletAddress(text)
  if (wallet === null) throw new FieldInvalidError('address', 'must be an EVM or a Solana address')
  if (wallet.family === 'solana') return wallet
  if (hasBothCases(text.slice(2)) && text !== checksumAddress(text)) throw new AddressChecksumError()
  return { ...wallet, chainId: chainIdOf(body) }
}
