// Names of keys in a hardware token, stored in place of a keystore's path, as PKCS#11 URIs (RFC 7512):
// `pkcs11:object=LABEL`, `pkcs11:id=%01`, or both.

export interface TokenKeyName {
  /** CKA_LABEL; null matches any label. */
  readonly label: string | null
  /** CKA_ID; null matches any id. */
  readonly id: Uint8Array | null
}

const SCHEME = 'pkcs11:'
const MAX_BYTES = 128

/** Returns true if an attester's key is in a token instead of a keystore. */
export const isTokenKey = (place: string): boolean => place.startsWith(SCHEME)

/** Returns null if a percent sign is not followed by two hexadecimal digits. */
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

/** Returns null unless the URI has `object`, `id` or both; the only other permitted attribute is `type=private`. */
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

/** Returns the canonical URI for an operator's input, a label or a URI; null for any other text. */
export const tokenKeyOf = (text: string): string | null => {
  const name = isTokenKey(text) ? parseTokenKey(text) : { label: text, id: null }
  if (name === null || name.label === '' || Buffer.byteLength(name.label ?? '') > MAX_BYTES) return null
  return formatTokenKey(name)
}
