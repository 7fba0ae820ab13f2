// Copies in an S3-compatible bucket. Uploads are atomic. Addresses are path-style, which every implementation supports.
// Sources: https://bun.com/docs/api/s3, https://docs.aws.amazon.com/AmazonS3/latest/API.

import { BoundedFetchFailedError } from '../lib/bounded-fetch.ts'
import { errorCodeOf, isMissingFile, NamedError } from '../lib/named-error.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import { XmlInvalidError } from '../lib/xml-scanner.ts'
import { listPage } from './list-page.ts'
import { digestOf, type ShipPlace, type ShippedObject, type ShipTarget } from './ship-target.ts'

export interface BucketAccess {
  /** Null for Amazon's endpoint of the region. */
  readonly endpoint: string | null
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Null unless the credentials are temporary. */
  readonly sessionToken: string | null
}

/** Timeout, so that a stalled request doesn't block others. Large objects get extra time, at 1 MiB/s. */
const FIXED_LIMIT_MS = 60_000
const BYTES_PER_LIMIT_MS = 1_049
/** Size of a part: two parts limit the memory for a large object. */
const PART_BYTES = 8_388_608
const PARTS_AT_ONCE = 2
/** Limits of a listing, far beyond any deployment. */
const EMPTY_PAGES_MAX = 100
const OBJECTS_MAX = 10_000_000

/** The bucket timed out, sent too much, or violated the protocol. The message is constant. */
export class BucketError extends NamedError {}

const isMissing = (error: unknown): boolean => errorCodeOf(error) === 'NoSuchKey' || isMissingFile(error)

const within = <Result>(limitMs: number, work: Promise<Result>): Promise<Result> =>
  withTimeout(work, limitMs, () => {
    throw new BucketError('the bucket does not respond')
  })

/** `ACCESS_KEY_ID:SECRET_ACCESS_KEY` and optionally `:SESSION_TOKEN`. @throws Error without the text */
export const parseBucketCredentials = (
  text: string,
): Pick<BucketAccess, 'accessKeyId' | 'secretAccessKey' | 'sessionToken'> => {
  const [accessKeyId = '', secretAccessKey = '', sessionToken = null, ...more] = text.trim().split(':')
  if (accessKeyId === '' || secretAccessKey === '' || sessionToken === '' || more.length > 0) {
    throw new Error('must be ACCESS_KEY_ID:SECRET_ACCESS_KEY or ACCESS_KEY_ID:SECRET_ACCESS_KEY:SESSION_TOKEN')
  }
  return { accessKeyId, secretAccessKey, sessionToken }
}

export const createBucketTarget = (
  { bucket, prefix }: Extract<ShipPlace, { kind: 'bucket' }>,
  access: BucketAccess,
): ShipTarget => {
  // Explicit even for Amazon: the runtime could take an endpoint from the environment.
  const endpoint = access.endpoint ?? `https://s3.${access.region}.amazonaws.com`
  const client = new Bun.S3Client({
    bucket,
    region: access.region,
    endpoint,
    accessKeyId: access.accessKeyId,
    secretAccessKey: access.secretAccessKey,
    ...(access.sessionToken === null ? {} : { sessionToken: access.sessionToken }),
    virtualHostedStyle: false,
  })

  /** @throws BucketError beyond `bytesMax` */
  const readFile = async function* (file: Bun.S3File, bytesMax: number): AsyncGenerator<Uint8Array> {
    const reader = file.stream().getReader()
    let bytes = 0
    try {
      for (;;) {
        const { done, value } = await within(FIXED_LIMIT_MS, reader.read())
        if (done) return
        bytes += value.length
        if (bytes > bytesMax) throw new BucketError('the bucket returned more bytes than requested')
        yield value
      }
    } finally {
      // No effect after a complete read; otherwise, the rest isn't needed, so errors are ignored.
      void reader.cancel().catch(() => undefined)
    }
  }

  const read = async function* (name: string): AsyncGenerator<Uint8Array> {
    const file = client.file(prefix + name)
    // Limited to the reported size. Chunks are hashed or written as they arrive.
    yield* readFile(file, (await within(FIXED_LIMIT_MS, file.stat())).size)
  }

  const readPage = async (namePrefix: string, continuationToken: string | undefined) => {
    const request = { url: `${endpoint.replace(/\/$/, '')}/${bucket}/`, prefix: namePrefix, continuationToken }
    try {
      const page = await listPage({ ...request, timeoutMs: FIXED_LIMIT_MS }, access)
      if (page.objects === null) throw new BucketError(`the bucket refuses to list its objects (${page.status})`)
      return page
    } catch (error) {
      if (error instanceof XmlInvalidError) throw new BucketError('the bucket’s listing is malformed')
      if (error instanceof BoundedFetchFailedError)
        throw new BucketError('listing the bucket timed out, or the list is too long')
      throw error
    }
  }

  return {
    description: `s3://${bucket}/${prefix}`,
    list: async (namePrefix) => {
      const found: ShippedObject[] = []
      const seen = new Set<string>()
      let pages = 0
      let continuationToken: string | undefined
      do {
        const page = await readPage(prefix + namePrefix, continuationToken)
        for (const { key, bytes } of page.objects) {
          // Callers remove listed objects, so a bucket that ignores the prefix must not cause the removal of others.
          if (key.startsWith(prefix + namePrefix)) found.push({ name: key.slice(prefix.length), bytes })
        }
        continuationToken = page.continuationToken
        pages += 1
        const isLong = pages > EMPTY_PAGES_MAX + found.length || found.length > OBJECTS_MAX
        // With a repeated token, the listing would never end.
        if (continuationToken !== undefined && (seen.has(continuationToken) || isLong)) {
          throw new BucketError('the bucket’s listing does not end')
        }
        seen.add(continuationToken ?? '')
      } while (continuationToken !== undefined)
      return found
    },
    put: async (name, content) => {
      const limitMs = FIXED_LIMIT_MS + content.size / BYTES_PER_LIMIT_MS
      // Bun would send a small file slice as a multipart upload.
      const body = content.size <= PART_BYTES ? await content.bytes() : content
      const options = { partSize: PART_BYTES, queueSize: PARTS_AT_ONCE, type: 'application/octet-stream' }
      const written = await within(limitMs, client.write(prefix + name, body as Blob, options))
      if (written !== content.size) throw new BucketError('the bucket stored a different number of bytes')
    },
    isIntact: async (name, digest) => {
      try {
        const { size, etag } = await within(FIXED_LIMIT_MS, client.stat(prefix + name))
        if (size !== digest.bytes) return false
        // The ETag isn't a hash for multipart uploads, or with the operator's encryption key.
        if (etag.replaceAll('"', '').toLowerCase() === digest.md5) return true
        return (await digestOf(readFile(client.file(prefix + name), size))).sha256 === digest.sha256
      } catch (error) {
        if (isMissing(error)) return false
        throw error
      }
    },
    read,
    readRange: async (name, offset, length) => {
      try {
        const range = client.file(prefix + name).slice(offset, offset + length)
        const chunks: Uint8Array[] = []
        for await (const chunk of readFile(range, length)) chunks.push(chunk)
        return Buffer.concat(chunks)
      } catch (error) {
        // 416: the object ends before the offset.
        if (isMissing(error)) return null
        if (errorCodeOf(error) === 'InvalidRange') return new Uint8Array(0)
        throw error
      }
    },
    remove: async (name) => {
      try {
        await within(FIXED_LIMIT_MS, client.delete(prefix + name))
      } catch (error) {
        if (!isMissing(error)) throw error
      }
    },
  }
}
