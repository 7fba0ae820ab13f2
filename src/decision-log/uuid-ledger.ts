// Exact set of uuids in bounded memory, to prove that no uuid occurs twice. If it is full, it halves its range of
// hashes (initially all 2^32) and drops the uuids outside it; the caller repeats the pass for the remaining ranges.

/** Entries before the range is halved, 34 bytes each: 143 MB, and twice that during halving. */
export const LEDGER_MAX_UUIDS = 4_194_304

const HASHES = 2 ** 32
const FIRST_SLOTS = 4_096

export type UuidUse = 'decision' | 'withheld'
const FLAGS = { decision: 1, withheld: 2 } as const

const hexValue = (code: number): number => (code <= 57 ? code - 48 : (code | 32) - 87)

/** Applies the finalizer of MurmurHash3, because uuids from one generator may share most bits. */
const mix = (hash: number, word: number): number => {
  let mixed = Math.imul(hash ^ word, 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}

export const createUuidLedger = (maxUuids: number = LEDGER_MAX_UUIDS) => {
  let slots = FIRST_SLOTS
  let words = new Uint32Array(slots * 4)
  let flags = new Uint8Array(slots)
  let count = 0
  let rangeStart = 0
  let rangeWidth = HASHES
  const key = new Uint32Array(4)

  const parse = (uuid: string): void => {
    let word = 0
    let digits = 0
    for (let i = 0; i < 36; i++) {
      const code = uuid.charCodeAt(i)
      if (code === 45) continue
      word = (word << 4) | hexValue(code)
      if (++digits % 8 === 0) {
        key[digits / 8 - 1] = word
        word = 0
      }
    }
  }

  const hashAt = (from: Uint32Array, offset: number): number => {
    let hash = 0x9e3779b9
    for (let i = 0; i < 4; i++) hash = mix(hash, from[offset + i] as number)
    return hash >>> 0
  }

  const inRange = (hash: number): boolean => hash >= rangeStart && hash < rangeStart + rangeWidth

  /** Returns the slot of the key at `offset`, or the free slot for it. Ranges divide the high bits of a hash. */
  const find = (from: Uint32Array, offset: number, hash: number): number => {
    for (let slot = hash & (slots - 1); ; slot = (slot + 1) & (slots - 1)) {
      if (flags[slot] === 0) return slot
      let same = true
      for (let i = 0; i < 4 && same; i++) same = words[slot * 4 + i] === from[offset + i]
      if (same) return slot
    }
  }

  const put = (from: Uint32Array, offset: number, hash: number, flag: number): void => {
    const slot = find(from, offset, hash)
    if (flags[slot] === 0) {
      for (let i = 0; i < 4; i++) words[slot * 4 + i] = from[offset + i] as number
      count++
    }
    flags[slot] = (flags[slot] as number) | flag
  }

  const rebuild = (newSlots: number): void => {
    const oldWords = words
    const oldFlags = flags
    slots = newSlots
    words = new Uint32Array(slots * 4)
    flags = new Uint8Array(slots)
    count = 0
    for (let slot = 0; slot < oldFlags.length; slot++) {
      const flag = oldFlags[slot] as number
      if (flag === 0) continue
      const hash = hashAt(oldWords, slot * 4)
      if (inRange(hash)) put(oldWords, slot * 4, hash, flag)
    }
  }

  return {
    /**
     * Returns true for a duplicate: a uuid may have one decision and one withheld decision. False outside the range.
     */
    add: (uuid: string, use: UuidUse): boolean => {
      parse(uuid)
      const hash = hashAt(key, 0)
      if (!inRange(hash)) return false
      const seen = flags[find(key, 0, hash)] as number
      if ((seen & FLAGS[use]) !== 0) return true
      put(key, 0, hash, FLAGS[use])
      while (count > maxUuids && rangeWidth > 1) {
        rangeWidth /= 2
        rebuild(slots)
      }
      if (count * 2 > slots) rebuild(slots * 2)
      return false
    },
    nextRange: (): boolean => {
      rangeStart += rangeWidth
      if (rangeStart >= HASHES) return false
      // If the last range left enough room, the next may be wider; if it is too wide, it is halved again.
      if (count * 2 <= maxUuids) rangeWidth *= 2
      rangeWidth = Math.min(rangeWidth, HASHES - rangeStart)
      flags.fill(0)
      count = 0
      return true
    },
  }
}
