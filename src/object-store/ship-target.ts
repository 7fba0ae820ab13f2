// Where copies of the decision log go: a folder or a bucket, behind one small interface. An object is there whole or not
// at all, so that whoever reads the copies never sees half a write.
import { createHash } from 'node:crypto'
import { isAbsolute, normalize } from 'node:path'

export interface ShippedObject {
  /** Relative to the target: `<node>/<slot>/<file>`. */
  readonly name: string
  readonly bytes: number
}

export interface ContentDigest {
  readonly bytes: number
  /** Lower-case hex. */
  readonly sha256: string
  /** Lower-case hex: what a bucket answers as the ETag of an object that was put by one request. */
  readonly md5: string
}

export interface ShipTarget {
  /** For people and logs; holds no secret. */
  readonly description: string
  /** All objects whose name begins with the prefix, unfinished ones left out. */
  list(prefix: string): Promise<readonly ShippedObject[]>
  /** Replaces the object as a whole. */
  put(name: string, content: Blob): Promise<void>
  /** Whether what is kept under the name is exactly this; read back where nothing less proves it. */
  isIntact(name: string, digest: ContentDigest): Promise<boolean>
  read(name: string): AsyncIterable<Uint8Array>
  /** Fewer bytes where the object ends before; null when it is not there. */
  readRange(name: string, offset: number, length: number): Promise<Uint8Array | null>
  /** Nothing happens when it is not there. */
  remove(name: string): Promise<void>
}

/** What the setting and `--to` name. */
export type ShipPlace =
  | { readonly kind: 'folder'; readonly path: string }
  | {
      readonly kind: 'bucket'
      readonly bucket: string
      /** Empty, or ends with a slash. */
      readonly prefix: string
    }

const PREFIX = /^[A-Za-z0-9!_.*'()=-]+(\/[A-Za-z0-9!_.*'()=-]+)*$/

/**
 * `dir:/path` or `s3://bucket/prefix`.
 * @throws Error whose message says what is expected.
 */
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

/** In constant memory. */
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
