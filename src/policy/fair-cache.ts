// A cache with one limit for all organizations. When it is full, the organization with the largest share loses its
// least recently used value. No organization can therefore evict values of organizations that use less.

export interface FairCache<Value> {
  /** Marks the value as recently used. */
  get(key: string): Value | undefined
  set(organizationId: string, key: string, value: Value): void
  clear(): void
}

interface Share<Value> {
  /** Values by key, least recently used first. */
  readonly values: Map<string, Value>
  weight: number
}

/** @param maxWeight total weight; a value heavier than this is not kept */
export const createFairCache = <Value>(maxWeight: number, weightOf: (value: Value) => number): FairCache<Value> => {
  const shares = new Map<string, Share<Value>>()
  const owners = new Map<string, Share<Value>>()
  let weight = 0

  const add = (share: Share<Value>, change: number): void => {
    share.weight += change
    weight += change
  }

  const remove = (key: string): void => {
    const share = owners.get(key)
    const value = share?.values.get(key)
    if (share === undefined || value === undefined) return
    share.values.delete(key)
    owners.delete(key)
    add(share, -weightOf(value))
  }

  const evict = (): void => {
    let heaviest: Share<Value> | null = null
    for (const [organizationId, share] of shares) {
      if (share.values.size === 0) shares.delete(organizationId)
      else if (heaviest === null || share.weight > heaviest.weight) heaviest = share
    }
    for (const key of heaviest?.values.keys() ?? []) {
      remove(key)
      return
    }
  }

  return {
    get: (key) => {
      const values = owners.get(key)?.values
      const value = values?.get(key)
      if (values === undefined || value === undefined) return undefined
      values.delete(key)
      values.set(key, value)
      return value
    },
    set: (organizationId, key, value) => {
      remove(key)
      const share = shares.get(organizationId) ?? { values: new Map<string, Value>(), weight: 0 }
      shares.set(organizationId, share)
      share.values.set(key, value)
      owners.set(key, share)
      add(share, weightOf(value))
      while (weight > maxWeight) evict()
    },
    clear: () => {
      shares.clear()
      owners.clear()
      weight = 0
    },
  }
}
