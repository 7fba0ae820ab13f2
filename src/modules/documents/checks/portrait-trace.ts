// Finds 64-bit hashes that differ in at most seven bits, with equality lookups only. At least one of four 16-bit parts
// of such hashes differs in at most one bit. Each part is therefore stored, and looked up as it is and with each bit
// flipped.

/**
 * Maximum number of different bits, of 64. Other sizes, lighting or compression of a photograph change fewer; other
 * photographs differ in 20 or more.
 */
export const DISTANCE_MAX = 7

const PARTS = 4
const PART_BITS = 16

const partsOf = (hash: string): readonly number[] =>
  Array.from({ length: PARTS }, (_, part) => Number.parseInt(hash.slice(part * 4, part * 4 + 4), 16))

const kindOf = (part: number, bits: number): string => `person.portrait.${part}.${bits.toString(16).padStart(4, '0')}`

/** @param hash 16 hex digits */
export const storedKinds = (hash: string): readonly string[] => partsOf(hash).map((bits, part) => kindOf(part, bits))

export const soughtKinds = (hash: string): readonly string[] =>
  partsOf(hash).flatMap((bits, part) => [
    kindOf(part, bits),
    ...Array.from({ length: PART_BITS }, (_, bit) => kindOf(part, bits ^ (1 << bit))),
  ])

export const distanceOf = (one: string, other: string): number =>
  (BigInt(`0x${one}`) ^ BigInt(`0x${other}`)).toString(2).replaceAll('0', '').length
