// Checks base58 text (Bitcoin alphabet) of 32 bytes, the form of Solana keys. Computes only the size of the number,
// because a full decoder allocates and takes microseconds.

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Digits by character code below 128; 255 for all others. */
export const BASE58_DIGITS = new Uint8Array(128).fill(255)
for (const [digit, character] of [...ALPHABET].entries()) BASE58_DIGITS[character.charCodeAt(0)] = digit

const BYTES = 32
/** Maximum length: 44 digits can exceed 32 bytes, but stay below 2^258. */
const LENGTH_MAX = 44
const LIMB = 2 ** 24
const LIMB_COUNT = 11
/** Digits processed at once: a limb times 58^4 stays below 2^48, where doubles are exact. */
const GROUP = 4
/** Base 2^24, least significant limb first. Shared by all calls, because the check is synchronous. */
const limbs = new Float64Array(LIMB_COUNT)

const multiplyAdd = (used: number, factor: number, addend: number): number => {
  let carry = addend
  for (let i = 0; i < used; i++) {
    const product = limbs[i]! * factor + carry
    carry = Math.floor(product / LIMB)
    limbs[i] = product - carry * LIMB
  }
  if (carry === 0) return used
  limbs[used] = carry
  return used + 1
}

export const isBase58Of32Bytes = (text: string): boolean => {
  if (text.length < BYTES || text.length > LENGTH_MAX) return false
  let zeros = 0
  while (zeros < text.length && text.charCodeAt(zeros) === 49) zeros++
  let used = 0
  let group = 0
  let factor = 1
  for (let i = zeros; i < text.length; i++) {
    const character = text.charCodeAt(i)
    const digit = character < 128 ? BASE58_DIGITS[character]! : 255
    if (digit === 255) return false
    group = group * 58 + digit
    factor *= 58
    if ((i - zeros) % GROUP === GROUP - 1) {
      used = multiplyAdd(used, factor, group)
      group = 0
      factor = 1
    }
  }
  if (factor > 1) used = multiplyAdd(used, factor, group)
  const top = used === 0 ? 0 : limbs[used - 1]!
  const topBytes = top >= 65_536 ? 3 : top >= 256 ? 2 : top > 0 ? 1 : 0
  return zeros + (used === 0 ? 0 : (used - 1) * 3 + topBytes) === BYTES
}
