// Strict parser of `Authorization: Bearer` credentials (RFC 6750 §2.1).

/**
 * Returns null unless the scheme is followed by one space and visible ASCII. Rejects the comma of joined repeated
 * headers.
 */
export const parseBearer = (header: string | null): string | null => {
  if (header === null || header.length < 8 || header.length > 512) return null
  if (header.charCodeAt(6) !== 32 || header.slice(0, 6).toLowerCase() !== 'bearer') return null
  for (let i = 7; i < header.length; i++) {
    const character = header.charCodeAt(i)
    if (character < 0x21 || character > 0x7e || character === 44) return null
  }
  return header.slice(7)
}
