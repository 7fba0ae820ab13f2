// Finds 64-bit hashes that differ in at most seven bits, with equality lookups only: at least one of their four 16-bit
// parts differs in at most one bit. Each part is stored, and looked up unchanged and with each bit flipped.

/**
 * Maximum different bits of 64. Resizing, relighting or recompressing a photograph changes fewer; different photographs
 * differ in 20 or more.
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
