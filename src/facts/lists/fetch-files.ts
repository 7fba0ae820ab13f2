// Downloads a published list's files if changed. Follows redirects only to the publisher's known hosts.
import type { Reach } from '../../domain/list.ts'
import {
  FetchFailedError,
  type GuardedRequest,
  guardedFetch,
  NotModifiedError,
  RedirectedError,
} from '../guarded-fetch.ts'

export interface FilesRequest {
  readonly urls: readonly string[]
  readonly redirectsTo: readonly string[]
  readonly reach: Reach
  /** Keyed by URL: `etag …` or `modified …` of the last download. */
  readonly validators: Readonly<Record<string, string>>
  readonly maxBytes: number
  readonly timeoutMs: number
  readonly needsLength: boolean
  readonly signal?: AbortSignal | undefined
  readonly certificateAuthority?: string
  readonly lookup?: GuardedRequest['lookup']
}

export interface FetchedFiles {
  readonly files: readonly Uint8Array[]
  readonly validators: Readonly<Record<string, string>>
}

/** User agent, because some publishers reject requests without one. */
const USER_AGENT = 'countersign'
const REDIRECTS_MAX = 3

const conditionOf = (validator: string | undefined): Readonly<Record<string, string>> => {
  if (validator === undefined) return {}
  const [kind = '', value = ''] = [
    validator.slice(0, validator.indexOf(' ')),
    validator.slice(validator.indexOf(' ') + 1),
  ]
  return kind === 'etag' ? { 'if-none-match': value } : { 'if-modified-since': value }
}

const fetchOne = async (
  url: string,
  validator: string | undefined,
  request: FilesRequest,
): Promise<{ readonly bytes: Uint8Array; readonly validator: string | null }> => {
  const { redirectsTo, reach, maxBytes, timeoutMs, needsLength, signal, certificateAuthority, lookup } = request
  let location = url
  for (let redirects = 0; ; redirects++) {
    let received: string | null = null
    const pieces: Uint8Array[] = []
    try {
      const stream = guardedFetch({
        url: location,
        reach,
        maxBytes,
        timeoutMs,
        needsLength,
        signal,
        headers: { 'user-agent': USER_AGENT, ...conditionOf(validator) },
        onHeaders: (headers) => {
          if (headers.etag !== undefined) received = `etag ${headers.etag}`
          else if (headers['last-modified'] !== undefined) received = `modified ${headers['last-modified']}`
        },
        ...(certificateAuthority === undefined ? {} : { certificateAuthority }),
        ...(lookup === undefined ? {} : { lookup }),
      })
      for await (const piece of stream) pieces.push(piece)
      return { bytes: new Uint8Array(Buffer.concat(pieces)), validator: received }
    } catch (error) {
      if (!(error instanceof RedirectedError) || redirects >= REDIRECTS_MAX) throw error
      const next = URL.parse(error.location, location)
      if (next === null || !redirectsTo.includes(next.host)) throw error
      location = next.href
    }
  }
}

/** Returns null if no file has changed. @throws FetchFailedError, UrlRefusedError */
export const fetchFiles = async (request: FilesRequest): Promise<FetchedFiles | null> => {
  const { urls, validators } = request
  const known = urls.every((url) => validators[url] !== undefined)
  const files: Uint8Array[] = []
  const next: Record<string, string> = {}
  const load = async (conditional: boolean): Promise<'all' | 'unchanged' | 'some'> => {
    for (const [at, url] of urls.entries()) {
      try {
        const { bytes, validator } = await fetchOne(url, conditional ? validators[url] : undefined, request)
        files[at] = bytes
        if (validator !== null) next[url] = validator
      } catch (error) {
        if (!(error instanceof NotModifiedError)) throw error
        if (!conditional) throw new FetchFailedError('the server responded with 304 to an unconditional request', error)
      }
    }
    const fetched = files.filter((file) => file !== undefined).length
    return fetched === urls.length ? 'all' : fetched === 0 ? 'unchanged' : 'some'
  }
  const result = await load(known)
  if (result === 'unchanged') return null
  // Files must be consistent, so if one has changed, all are downloaded.
  if (result === 'some') await load(false)
  return { files, validators: next }
}
