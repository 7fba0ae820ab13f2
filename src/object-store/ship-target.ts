// Destination for copies of the decision log. Writes are atomic, so readers never see a partial object.
import { createHash } from 'node:crypto'
import { isAbsolute, normalize } from 'node:path'

export interface ShippedObject {
  /** Relative to the target: `<node>/<slot>/<file>`. */
  readonly name: string
  readonly bytes: number
}

export interface ContentDigest {
  readonly bytes: number
  /** SHA-256 in lowercase hex. */
  readonly sha256: string
  /** Lowercase hex, as in the ETag of an object uploaded in a single request. */
  readonly md5: string
}

export interface ShipTarget {
  /** Description for display and logs, without secrets. */
  readonly description: string
  /** Returns the complete objects whose name starts with the prefix. */
  list(prefix: string): Promise<readonly ShippedObject[]>
  /** Replaces the object atomically. */
  put(name: string, content: Blob): Promise<void>
  /** Reads the object if its metadata can't prove that it has this content. */
  isIntact(name: string, digest: ContentDigest): Promise<boolean>
  read(name: string): AsyncIterable<Uint8Array>
  /** Returns fewer bytes if the object is shorter; null if it doesn't exist. */
  readRange(name: string, offset: number, length: number): Promise<Uint8Array | null>
  /** No effect if the object doesn't exist. */
  remove(name: string): Promise<void>
}

/** Named by the setting or by `--to`. */
export type ShipPlace =
  | { readonly kind: 'folder'; readonly path: string }
  | {
      readonly kind: 'bucket'
      readonly bucket: string
      /** Empty, or ends with a slash. */
      readonly prefix: string
    }

const PREFIX = /^[A-Za-z0-9!_.*'()=-]+(\/[A-Za-z0-9!_.*'()=-]+)*$/

/** `dir:/path` or `s3://bucket/prefix`. @throws Error that states the expected form */
export const parseShipPlace = (text: string): ShipPlace => {
  if (text.startsWith('dir:')) {
    const path = text.slice(4)
    if (!isAbsolute(path) || path.includes('\0')) throw new Error('must be dir: and an absolute path')
    return { kind: 'folder', path: normalize(path) }
  }
  const [, bucket, prefix = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*?))?\/?$/.exec(text) ?? []
  const isPlain = prefix === '' || (PREFIX.test(prefix) && !prefix.split('/').some((part) => /^\.{1,2}$/.test(part)))
  if (bucket === undefined || !isPlain) throw new Error('must be dir:/path or s3://bucket/prefix')
  return { kind: 'bucket', bucket, prefix: prefix === '' ? '' : `${prefix}/` }
}

/** Hashes chunks in constant memory. */
export const digestOf = async (chunks: AsyncIterable<Uint8Array>): Promise<ContentDigest> => {
  const sha256 = createHash('sha256')
  const md5 = createHash('md5')
  let bytes = 0
  for await (const chunk of chunks) {
    sha256.update(chunk)
    md5.update(chunk)
    bytes += chunk.length
  }
  return { bytes, sha256: sha256.digest('hex'), md5: md5.digest('hex') }
}
