// Reads JSON bodies with an exact content type, a hard size limit and valid UTF-8. Buffers at most the limit plus one
// chunk, regardless of Content-Length. Source: decisions §1; threats row 12.
import { CountersignError, fixedError } from '../domain/errors.ts'
import { isFragmented } from '../lib/upload-pace.ts'
import { JsonMalformedError, type JsonObject, parseStrictJsonObject } from './strict-json.ts'

/** Maximum size of a body: 256 KiB (decisions §1). */
export const JSON_BODY_MAX_BYTES = 262_144

export interface JsonBodyOptions {
  readonly maxBytes?: number
}

export class MediaTypeUnsupportedError extends CountersignError {
  constructor(detail: string) {
    super('UNSUPPORTED_MEDIA_TYPE', detail)
  }
}

class BodyTooLargeError extends CountersignError {
  constructor(maxBytes: number) {
    super('PAYLOAD_TOO_LARGE', `the request body exceeds ${maxBytes} bytes`)
  }
}

/** Content-Length is malformed or was sent twice. A proxy and this server must not read different sizes. */
export class ContentLengthInvalidError extends fixedError(
  'INVALID_REQUEST',
  'the Content-Length header must be a whole number',
) {}

/** The client disconnected before the body was complete. */
class BodyIncompleteError extends CountersignError {
  constructor(cause: unknown) {
    super('INVALID_REQUEST', 'the request body could not be read', { cause })
  }
}

export class BodyFragmentedError extends fixedError(
  'INVALID_REQUEST',
  'the request body is sent in chunks that are too small',
) {}

// Keeps the byte order mark for the parser to refuse: stripping it would hide bytes from a hash of the text.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const decodeUtf8 = (bytes: Uint8Array): string => {
  try {
    return decoder.decode(bytes)
  } catch (error) {
    throw new JsonMalformedError(error)
  }
}

/** `application/json`, alone or with the single parameter `charset=utf-8` (RFC 8259 §11, RFC 9110 §8.3.1). */
export const isJsonContentType = (header: string): boolean => {
  if (header === 'application/json') return true
  const parts = header.toLowerCase().split(';')
  if (parts.length > 2 || parts[0]?.trim() !== 'application/json') return false
  const parameter = parts[1]?.trim()
  return parameter === undefined || parameter === 'charset=utf-8' || parameter === 'charset="utf-8"'
}

const readChunks = async (body: ReadableStream<Uint8Array>, maxBytes: number): Promise<string> => {
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      size += value.byteLength
      if (size > maxBytes || isFragmented(chunks.length, size)) break
      chunks.push(value)
    }
  } catch (error) {
    throw new BodyIncompleteError(error)
  }
  const fragmented = isFragmented(chunks.length, size)
  if (size > maxBytes || fragmented) {
    await reader.cancel()
    throw fragmented ? new BodyFragmentedError() : new BodyTooLargeError(maxBytes)
  }
  return decodeUtf8(Buffer.concat(chunks, size))
}

const throwIncomplete = (error: unknown): never => {
  throw new BodyIncompleteError(error)
}

/**
 * Run it under a deadline, because a body may arrive slowly. @throws MediaTypeUnsupportedError 415,
 * ContentLengthInvalidError 400, BodyTooLargeError 413, JsonMalformedError 400, BodyIncompleteError
 */
export const readJsonBody = (request: Request, { maxBytes = JSON_BODY_MAX_BYTES }: JsonBodyOptions = {}) => {
  const headers = request.headers
  const contentType = headers.get('content-type')
  if (contentType === null || !isJsonContentType(contentType)) {
    throw new MediaTypeUnsupportedError('the content type must be application/json')
  }
  const contentEncoding = headers.get('content-encoding')
  if (contentEncoding !== null && contentEncoding.toLowerCase() !== 'identity') {
    throw new MediaTypeUnsupportedError('the request body must not be compressed')
  }
  const contentLength = headers.get('content-length')
  if (contentLength === null) {
    const body = request.body
    return body === null ? Promise.resolve('') : readChunks(body, maxBytes)
  }
  // Bun frames the body by this header, and joins a repeated header with the same value.
  if (!/^[0-9]+$/.test(contentLength)) throw new ContentLengthInvalidError()
  if (Number(contentLength) > maxBytes) throw new BodyTooLargeError(maxBytes)
  return request.bytes().then(decodeUtf8, throwIncomplete)
}

interface OptionalJsonBody {
  readonly text: string
  readonly object: JsonObject
}

const NONE: OptionalJsonBody = Object.freeze({ text: '', object: Object.freeze({}) })

/** Ignores the content type, because some clients always send one. */
const isAbsent = ({ headers, body }: Request): boolean => {
  const length = headers.get('content-length')
  return length === '0' || (length === null && body === null)
}

export const readOptionalJsonBody = async (request: Request): Promise<OptionalJsonBody> => {
  if (isAbsent(request)) return NONE
  const text = await readJsonBody(request)
  return text === '' ? NONE : { text, object: parseStrictJsonObject(text) }
}
