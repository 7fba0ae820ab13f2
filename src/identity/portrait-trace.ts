// Finds hashes that differ in a few of 64 bits by equality alone: of four parts of 16 bits, one differs in at most one
// bit when the whole differs in at most seven. So each part is stored, and each is looked up with every bit flipped once.

/** Bits of 64: another size, light or compression of one photograph differs in less, other photographs in 20 and more. */
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
