// Finds an attester's key in a token. The private key never leaves it. Sources: OASIS PKCS#11 3.0, sections 5.7 (object
// search) and 6.3 (elliptic curves).
import { ptr } from 'bun:ffi'
import bs58 from 'bs58'
import { evmAddressOf } from '../../signing/address.ts'
import { TokenUnusableError } from '../../signing/errors.ts'
import { formatTokenKey, type TokenKeyName } from '../../signing/token-key.ts'
import {
  CKA_ALWAYS_AUTHENTICATE,
  CKA_CLASS,
  CKA_EC_POINT,
  CKA_EXTRACTABLE,
  CKA_ID,
  CKA_KEY_TYPE,
  CKA_LABEL,
  CKK_EC,
  CKK_EC_EDWARDS,
  CKO_PRIVATE_KEY,
  CKO_PUBLIC_KEY,
  CKR_ATTRIBUTE_TYPE_INVALID,
  CKR_OK,
  resultName,
} from './constants.ts'
import { attributeTemplate, type CryptokiModule } from './cryptoki-module.ts'

export interface TokenKey {
  readonly kind: 'secp256k1' | 'ed25519'
  /** Handle, valid only in its session. */
  readonly handle: bigint
  /** 65 bytes starting with 0x04 (secp256k1), or 32 bytes (ed25519). */
  readonly publicKey: Uint8Array
  /** Checksummed EVM address, or base58 public key. */
  readonly address: string
  /** Whether the token would export the private key wrapped. */
  readonly isExtractable: boolean
}

/** Maximum number of found keys: two are enough to detect ambiguity. */
const MAX_FOUND = 2
const MAX_ATTRIBUTE_BYTES = 1024
const DER_OCTET_STRING = 0x04

type Attribute = readonly [type: bigint, value: Uint8Array | BigUint64Array]

const find = (module: CryptokiModule, session: bigint, attributes: readonly Attribute[]): readonly bigint[] => {
  module.must('C_FindObjectsInit', session, attributeTemplate(attributes), BigInt(attributes.length))
  const handles = new BigUint64Array(MAX_FOUND)
  const count = new BigUint64Array(1)
  try {
    module.must('C_FindObjects', session, handles, BigInt(MAX_FOUND), count)
  } finally {
    module.call('C_FindObjectsFinal', session)
  }
  return [...handles.subarray(0, Number(count[0]))]
}

const readAttribute = (module: CryptokiModule, session: bigint, handle: bigint, type: bigint): Uint8Array | null => {
  const value = new Uint8Array(MAX_ATTRIBUTE_BYTES)
  const template = BigUint64Array.of(type, BigInt(ptr(value)), BigInt(value.length))
  const result = module.call('C_GetAttributeValue', session, handle, template, 1n)
  if (result === CKR_ATTRIBUTE_TYPE_INVALID) return null
  if (result !== CKR_OK) throw new TokenUnusableError(`an attribute of the key cannot be read: ${resultName(result)}`)
  const length = Number(template[2])
  return length > value.length ? null : value.subarray(0, length)
}

/** The value is a DER octet string with the point; some modules return the bare point. */
const pointOf = (value: Uint8Array | null, pointBytes: number): Uint8Array | null => {
  if (value?.length === pointBytes) return Uint8Array.from(value)
  const isWrapped = value?.length === pointBytes + 2 && value[0] === DER_OCTET_STRING && value[1] === pointBytes
  return isWrapped ? Uint8Array.from(value.subarray(2)) : null
}

const KINDS = {
  secp256k1: { keyType: CKK_EC, pointBytes: 65, addressOf: evmAddressOf },
  ed25519: { keyType: CKK_EC_EDWARDS, pointBytes: 32, addressOf: (publicKey: Uint8Array) => bs58.encode(publicKey) },
} as const

/** @throws TokenUnusableError for a missing, ambiguous or unusable key; TokenUnavailableError */
export const findTokenKey = (
  module: CryptokiModule,
  session: bigint,
  kind: TokenKey['kind'],
  name: TokenKeyName,
): TokenKey => {
  const { keyType, pointBytes, addressOf } = KINDS[kind]
  const text = formatTokenKey(name)
  const ofClass = (objectClass: bigint): readonly Attribute[] => [
    [CKA_CLASS, BigUint64Array.of(objectClass)],
    [CKA_KEY_TYPE, BigUint64Array.of(keyType)],
  ]
  const label = (value: string): Attribute => [CKA_LABEL, Buffer.from(value)]
  const named = [
    ...(name.label === null ? [] : [label(name.label)]),
    ...(name.id === null ? [] : [[CKA_ID, name.id] as const]),
  ]
  const found = find(module, session, [...ofClass(CKO_PRIVATE_KEY), ...named])
  const [handle] = found
  if (handle === undefined) throw new TokenUnusableError(`the token has no ${kind} key ${text}`)
  if (found.length > 1) {
    throw new TokenUnusableError(`the token has several ${kind} keys ${text}: specify one by ID, such as pkcs11:id=%01`)
  }
  const read = (of: bigint, type: bigint): Uint8Array | null => readAttribute(module, session, of, type)
  if (read(handle, CKA_ALWAYS_AUTHENTICATE)?.[0] === 1) {
    throw new TokenUnusableError(
      `the key ${text} requires the PIN for each signature: use a key without this requirement`,
    )
  }
  // A pair has the same id, or the same label without an id.
  const id = name.id ?? read(handle, CKA_ID)
  const isSame = id === null || id.length === 0 ? named : [[CKA_ID, id] as const]
  const [publicHandle, ...others] = find(module, session, [...ofClass(CKO_PUBLIC_KEY), ...isSame])
  if (publicHandle === undefined || others.length > 0) {
    throw new TokenUnusableError(
      `the token has ${publicHandle === undefined ? 'no' : 'several'} public keys for ${text}`,
    )
  }
  const publicKey = pointOf(read(publicHandle, CKA_EC_POINT), pointBytes)
  if (publicKey === null) throw new TokenUnusableError(`the public key of ${text} is not of kind ${kind}`)
  return {
    kind,
    handle,
    publicKey,
    address: addressOf(publicKey),
    isExtractable: read(handle, CKA_EXTRACTABLE)?.[0] === 1,
  }
}
