// Names of keys in a hardware token, as PKCS#11 URIs: `pkcs11:object=LABEL`, `pkcs11:id=%01`, or both. They are stored
// in place of a keystore's path. The token and its PIN are settings. Source: RFC 7512.

export interface TokenKeyName {
  /** CKA_LABEL. Null matches any label. */
  readonly label: string | null
  /** CKA_ID. Null matches any id. */
  readonly id: Uint8Array | null
}

const SCHEME = 'pkcs11:'
const MAX_BYTES = 128

/** Reports whether an attester's key is in a token instead of a keystore. */
export const isTokenKey = (place: string): boolean => place.startsWith(SCHEME)

/** @returns null if a percent sign is not followed by two hexadecimal digits */
const percentDecoded = (text: string): Uint8Array | null => {
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return null
  const parts = text.split(/%([0-9A-Fa-f]{2})/)
  return Buffer.concat(parts.map((part, index) => Buffer.from(part, index % 2 === 0 ? 'utf8' : 'hex')))
}

const textOf = (bytes: Uint8Array): string | null => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

/**
 * @returns null if the text is not a URI with `object`, `id` or both; `type=private` is the only other attribute
 * allowed
 */
export const parseTokenKey = (uri: string): TokenKeyName | null => {
  if (!isTokenKey(uri)) return null
  let label: string | null = null
  let id: Uint8Array | null = null
  for (const attribute of uri.slice(SCHEME.length).split(';')) {
    const [name = '', encoded = '', ...rest] = attribute.split('=')
    const value = percentDecoded(encoded)
    if (value === null || value.length === 0 || value.length > MAX_BYTES || rest.length > 0) return null
    if (name === 'object' && label === null) {
      label = textOf(value)
      if (label === null) return null
    } else if (name === 'id' && id === null) id = value
    else if (attribute !== 'type=private') return null
  }
  return label === null && id === null ? null : { label, id }
}

export const formatTokenKey = ({ label, id }: TokenKeyName): string => {
  const object = label === null ? [] : [`object=${encodeURIComponent(label)}`]
  const bytes = id === null ? [] : [`id=${[...id].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')}`]
  return `${SCHEME}${[...object, ...bytes].join(';')}`
}

/** Returns the canonical URI for an operator's input, which may be a label or a URI. @returns null if it is neither */
export const tokenKeyOf = (text: string): string | null => {
  const name = isTokenKey(text) ? parseTokenKey(text) : { label: text, id: null }
  if (name === null || name.label === '' || Buffer.byteLength(name.label ?? '') > MAX_BYTES) return null
  return formatTokenKey(name)
}
