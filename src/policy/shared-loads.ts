// Shares loads between callers that miss the same key with the same stamp, for a limited time.
import type { Clock } from '../lib/time.ts'

interface Load<Value> {
  readonly promise: Promise<Value>
  readonly stamp: number
  readonly startedMs: number
}

export interface SharedLoads<Value> {
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
        if (underWay.get(key)?.promise === promise) underWay.delete(key)
      })
      underWay.set(key, { promise, stamp, startedMs: nowMs })
      return promise
    },
  }
}
