// Hash table with open addressing in one typed array: a million entries cost the garbage collector nothing. The caller
// has the records and resolves collisions.

export interface RecordIndex {
  /** Returns the place with this hash for which `isIt` returns true; -1 if there is none. */
  find(hash: number, isIt: (place: number) => boolean): number
  /** The record must not be in the index. */
  add(hash: number, place: number): void
  move(hash: number, from: number, to: number): void
  remove(hash: number, place: number): void
  size(): number
  clear(): void
}

/** Numbers per entry: the hash, and the place plus one (0 if empty). */
const ENTRY = 2
const FIRST_ENTRIES = 1_024
/** Maximum load factor; above it, probe sequences become long. */
const FULL = 0.7

/** Hashes and places are integers below 2^32 - 1. */
export const createRecordIndex = (): RecordIndex => {
  let entries = FIRST_ENTRIES
  let table = new Uint32Array(entries * ENTRY)
  let count = 0

  const insert = (into: Uint32Array, mask: number, hash: number, stored: number): void => {
    let entry = hash & mask
    while (into[entry * ENTRY + 1] !== 0) entry = (entry + 1) & mask
    into[entry * ENTRY] = hash
    into[entry * ENTRY + 1] = stored
  }

  const grow = (): void => {
    const larger = new Uint32Array(entries * 2 * ENTRY)
    for (let entry = 0; entry < entries; entry++) {
      const stored = table[entry * ENTRY + 1]!
      if (stored !== 0) insert(larger, entries * 2 - 1, table[entry * ENTRY]!, stored)
    }
    entries *= 2
    table = larger
  }

  const entryOf = (hash: number, place: number): number => {
    const mask = entries - 1
    for (let entry = hash & mask; ; entry = (entry + 1) & mask) {
      const stored = table[entry * ENTRY + 1]!
      if (stored === 0) return -1
      if (stored === place + 1) return entry
    }
  }

  const closeGap = (gap: number): void => {
    const mask = entries - 1
    let empty = gap
    for (let entry = (gap + 1) & mask; table[entry * ENTRY + 1] !== 0; entry = (entry + 1) & mask) {
      const home = table[entry * ENTRY]! & mask
      if (((entry - home) & mask) < ((entry - empty) & mask)) continue
      table[empty * ENTRY] = table[entry * ENTRY]!
      table[empty * ENTRY + 1] = table[entry * ENTRY + 1]!
      empty = entry
    }
    table[empty * ENTRY + 1] = 0
  }

  return {
    find: (hash, isIt) => {
      const mask = entries - 1
      for (let entry = hash & mask; ; entry = (entry + 1) & mask) {
        const stored = table[entry * ENTRY + 1]!
        if (stored === 0) return -1
        if (table[entry * ENTRY] === hash && isIt(stored - 1)) return stored - 1
      }
    },
    add: (hash, place) => {
      if (count + 1 > entries * FULL) grow()
      insert(table, entries - 1, hash, place + 1)
      count += 1
    },
    move: (hash, from, to) => {
      const entry = entryOf(hash, from)
      if (entry !== -1) table[entry * ENTRY + 1] = to + 1
    },
    remove: (hash, place) => {
      const entry = entryOf(hash, place)
      if (entry === -1) return
      closeGap(entry)
      count -= 1
    },
    size: () => count,
    clear: () => {
      entries = FIRST_ENTRIES
      table = new Uint32Array(entries * ENTRY)
      count = 0
    },
  }
}
