// Limits how much work is in progress, in all and by any other key, such as the organization it is done for.

export interface SlotLimit {
  readonly key: string
  readonly maximum: number
}

export interface CountedSlots {
  /** Takes one slot of each key. @returns how to release them; null if a key has no free slot */
  acquire(limits: readonly SlotLimit[]): (() => void) | null
}

export const createCountedSlots = (): CountedSlots => {
  const taken = new Map<string, number>()
  return {
    acquire: (limits) => {
      if (limits.some(({ key, maximum }) => (taken.get(key) ?? 0) >= maximum)) return null
      for (const { key } of limits) taken.set(key, (taken.get(key) ?? 0) + 1)
      return () => {
        for (const { key } of limits) {
          const left = (taken.get(key) ?? 1) - 1
          if (left === 0) taken.delete(key)
          else taken.set(key, left)
        }
      }
    },
  }
}
