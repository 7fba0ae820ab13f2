// Base32 decoder (RFC 4648, section 6).
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

export const decodeBase32 = (text: string): Uint8Array => {
  const bits = [...text].map((character) => ALPHABET.indexOf(character).toString(2).padStart(5, '0')).join('')
  return Uint8Array.from({ length: Math.floor(bits.length / 8) }, (_, index) =>
    Number.parseInt(bits.slice(index * 8, index * 8 + 8), 2),
  )
}
