// Loads under way, shared by those who miss the same key at the same time. A load is joined only by those for whom its
// result can't be out of date (the same stamp) and only for so long, so that one that hangs does not hang its key.
import type { Clock } from '../domain/time.ts'

interface Load<Value> {
  readonly promise: Promise<Value>
  readonly stamp: number
  readonly startedMs: number
}

export interface SharedLoads<Value> {
  /** The load of this key and stamp that is under way, or a new one. */
  join(key: string, stamp: number, load: () => Promise<Value>): Promise<Value>
}

export const createSharedLoads = <Value>(clock: Clock, joinWithinMs: number): SharedLoads<Value> => {
  const underWay = new Map<string, Load<Value>>()
  return {
    join: (key, stamp, load) => {
      const nowMs = clock.monotonicMs()
      const current = underWay.get(key)
      if (current !== undefined && current.stamp === stamp && nowMs - current.startedMs < joinWithinMs) {
        return current.promise
      }
      const promise = load().finally(() => {
        // A later load may have taken this one's place.
        if (underWay.get(key)?.promise === promise) underWay.delete(key)
      })
      underWay.set(key, { promise, stamp, startedMs: nowMs })
      return promise
    },
  }
}
