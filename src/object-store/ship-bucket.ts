// Copies in an S3-compatible bucket, by Bun's own client: one request an object, several parts for a large one, whole or
// not at all either way. Path-style addresses, which every implementation takes.
// Source: https://bun.com/docs/api/s3, https://docs.aws.amazon.com/AmazonS3/latest/API.

import { BoundedFetchFailedError } from '../lib/bounded-fetch.ts'
import { errorCodeOf, isMissingFile, NamedError } from '../lib/named-error.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import { XmlInvalidError } from '../lib/xml-scanner.ts'
import { listPage } from './list-page.ts'
import { digestOf, type ShipPlace, type ShippedObject, type ShipTarget } from './ship-target.ts'

export interface BucketAccess {
  /** Null: Amazon's own, for the region. */
  readonly endpoint: string | null
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Null where the credentials are not temporary. */
  readonly sessionToken: string | null
}

/** A request that stands still must not keep the rest waiting for ever; large objects go at 1 MiB/s at least. */
const FIXED_LIMIT_MS = 60_000
const BYTES_PER_LIMIT_MS = 1_049
/** So that a large object costs no more memory than two of its parts. */
const PART_BYTES = 8_388_608
const PARTS_AT_ONCE = 2
/** Pages of a list that may bring nothing, and objects that a list may have: far more than any deployment ships. */
const EMPTY_PAGES_MAX = 100
const OBJECTS_MAX = 10_000_000

/** The bucket did not answer in time, sends too much, or does not answer as a bucket does. The message is chosen text. */
export class BucketError extends NamedError {}

const isMissing = (error: unknown): boolean => errorCodeOf(error) === 'NoSuchKey' || isMissingFile(error)

const within = <Result>(limitMs: number, work: Promise<Result>): Promise<Result> =>
  withTimeout(work, limitMs, () => {
    throw new BucketError('the bucket does not answer')
  })

/** `ACCESS_KEY_ID:SECRET_ACCESS_KEY`, or with `:SESSION_TOKEN`. @throws Error without the text itself */
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
  // Named even where it is Amazon's own: the runtime would take another one from the environment.
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

  /** @throws BucketError past `bytesMax`: the bucket sends on what nobody asked for */
  const readFile = async function* (file: Bun.S3File, bytesMax: number): AsyncGenerator<Uint8Array> {
    const reader = file.stream().getReader()
    let bytes = 0
    try {
      for (;;) {
        const { done, value } = await within(FIXED_LIMIT_MS, reader.read())
        if (done) return
        bytes += value.length
        if (bytes > bytesMax) throw new BucketError('the bucket sends more than it was asked for')
        yield value
      }
    } finally {
      // After a complete read, cancel has no effect. Otherwise nobody needs the rest, so its errors are ignored.
      void reader.cancel().catch(() => undefined)
    }
  }

  const read = async function* (name: string): AsyncGenerator<Uint8Array> {
    const file = client.file(prefix + name)
    // As large as the bucket says before: what is read is hashed or written to the disk as it comes.
    yield* readFile(file, (await within(FIXED_LIMIT_MS, file.stat())).size)
  }

  const readPage = async (namePrefix: string, continuationToken: string | undefined) => {
    const request = { url: `${endpoint.replace(/\/$/, '')}/${bucket}/`, prefix: namePrefix, continuationToken }
    try {
      const page = await listPage({ ...request, timeoutMs: FIXED_LIMIT_MS }, access)
      if (page.objects === null) throw new BucketError(`the bucket refuses its list (${page.status})`)
      return page
    } catch (error) {
      if (error instanceof XmlInvalidError) throw new BucketError('the bucket’s list is malformed')
      if (error instanceof BoundedFetchFailedError)
        throw new BucketError('the bucket’s list does not arrive, or is too long')
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
          // Callers remove what is listed, so a bucket that ignores the prefix must not lead them to anything else.
          if (key.startsWith(prefix + namePrefix)) found.push({ name: key.slice(prefix.length), bytes })
        }
        continuationToken = page.continuationToken
        pages += 1
        const isLong = pages > EMPTY_PAGES_MAX + found.length || found.length > OBJECTS_MAX
        // A listing that comes back to where it was never ends.
        if (continuationToken !== undefined && (seen.has(continuationToken) || isLong)) {
          throw new BucketError('the bucket’s list does not end')
        }
        seen.add(continuationToken ?? '')
      } while (continuationToken !== undefined)
      return found
    },
    put: async (name, content) => {
      const limitMs = FIXED_LIMIT_MS + content.size / BYTES_PER_LIMIT_MS
      // As an array where it is small: a file's slice would be sent in parts from the first byte on.
      const body = content.size <= PART_BYTES ? await content.bytes() : content
      const options = { partSize: PART_BYTES, queueSize: PARTS_AT_ONCE, type: 'application/octet-stream' }
      const written = await within(limitMs, client.write(prefix + name, body as Blob, options))
      if (written !== content.size) throw new BucketError('the bucket took another number of bytes')
    },
    isIntact: async (name, digest) => {
      try {
        const { size, etag } = await within(FIXED_LIMIT_MS, client.stat(prefix + name))
        if (size !== digest.bytes) return false
        // Of an object put in parts, or encrypted with a key of the operator's, the ETag says nothing of the content.
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
        // 416: it ends before.
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
