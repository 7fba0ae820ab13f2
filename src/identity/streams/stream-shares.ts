// Shares a process's streams among organizations. If all streams are in use, a new stream ends the newest stream of the
// largest share, unless its own share would become as large. One organization can use all streams while no other
// organization needs a stream (threats row 20).
import { fixedError } from '../../domain/errors.ts'

export class StreamLimitError extends fixedError(
  'RATE_LIMITED',
  'too many open streams; close some streams, or retry later',
  { retryAfterSeconds: 15 },
) {}

export interface StreamOwner {
  readonly organizationId: string
  readonly keyId: string
  /** Streams of the verification page have a separate share per organization. */
  readonly isPage: boolean
}

export interface StreamShares<Stream extends { readonly request: StreamOwner }> {
  /** Ends another stream if necessary. @throws StreamLimitError */
  requireRoom(owner: StreamOwner, ofKeyMax: number): void
  add(stream: Stream): void
  remove(stream: Stream): void
  size(): number
}

const shareKey = ({ organizationId, isPage }: StreamOwner): string => `${organizationId} ${isPage}`

const newestOf = <Item>(items: ReadonlySet<Item>): Item | undefined => {
  let newest: Item | undefined
  for (const item of items) newest = item
  return newest
}

export const createStreamShares = <Stream extends { readonly request: StreamOwner }>(
  streamsMax: number,
  end: (stream: Stream) => void,
): StreamShares<Stream> => {
  const perKey = new Map<string, number>()
  const shares = new Map<string, Set<Stream>>()
  let count = 0

  const largestShare = (): ReadonlySet<Stream> => {
    let largest: ReadonlySet<Stream> = new Set()
    for (const share of shares.values()) if (share.size > largest.size) largest = share
    return largest
  }

  return {
    requireRoom: (owner, ofKeyMax) => {
      if ((perKey.get(owner.keyId) ?? 0) >= ofKeyMax) throw new StreamLimitError()
      if (count < streamsMax) return
      const largest = largestShare()
      const own = shares.get(shareKey(owner))?.size ?? 0
      const newest = newestOf(largest)
      // At a difference of one, two reconnecting clients would end each other's streams forever.
      if (newest === undefined || largest.size < own + 2) throw new StreamLimitError()
      end(newest)
    },
    add: (stream) => {
      const key = shareKey(stream.request)
      const share = shares.get(key) ?? new Set()
      shares.set(key, share.add(stream))
      perKey.set(stream.request.keyId, (perKey.get(stream.request.keyId) ?? 0) + 1)
      count += 1
    },
    remove: (stream) => {
      const { keyId } = stream.request
      const key = shareKey(stream.request)
      const share = shares.get(key)
      share?.delete(stream)
      if (share?.size === 0) shares.delete(key)
      const ofKey = (perKey.get(keyId) ?? 1) - 1
      if (ofKey === 0) perKey.delete(keyId)
      else perKey.set(keyId, ofKey)
      count -= 1
    },
    size: () => count,
  }
}
