// Limits concurrent work per key, for example in total and per organization.

export interface SlotLimit {
  readonly key: string
  readonly maximum: number
}

export const createCountedSlots = () => {
  const taken = new Map<string, number>()
  const count = (key: string): number => taken.get(key) ?? 0
  return {
    count,
    /** Takes one slot of each key, and returns a function that releases them. Null if a key has no free slot. */
    acquire: (limits: readonly SlotLimit[]): (() => void) | null => {
      if (limits.some(({ key, maximum }) => count(key) >= maximum)) return null
      for (const { key } of limits) taken.set(key, count(key) + 1)
      return () => {
        for (const { key } of limits) {
          const left = count(key) - 1
          if (left === 0) taken.delete(key)
          else taken.set(key, left)
        }
      }
    },
  }
}

export type CountedSlots = ReturnType<typeof createCountedSlots>
