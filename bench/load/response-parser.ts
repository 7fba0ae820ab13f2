// Parses HTTP/1.1 responses of one keep-alive connection with little CPU time, because the generator shares the machine
// with the measured server. Supports the status and Content-Length; RFC 9112, sections 4 and 6.3.

/** One response. Its bytes belong to the connection: read them within the call, and copy what must be kept. */
export interface ResponseView {
  status: number
  bytes: Uint8Array
  bodyStart: number
  bodyEnd: number
  /** The server sent `Connection: close`. */
  closing: boolean
}

/** The bytes are not a valid response, so the connection can't be used further. */
export class ResponseMalformedError extends Error {
  override readonly name = 'ResponseMalformedError'
}

export interface ResponseParser {
  /** Call `reset` before the next use after an error. @throws ResponseMalformedError */
  push(chunk: Uint8Array): void
  reset(): void
}

const MAX_RESPONSE_BYTES = 4 * 1024 * 1024
const LINE_FEED = 10
const COLON = 58

/** Returns true if the header line at `start` has this lowercase name, followed by a colon. */
const isHeader = (bytes: Uint8Array, start: number, end: number, name: string): boolean => {
  if (start + name.length >= end || bytes[start + name.length] !== COLON) return false
  for (let i = 0; i < name.length; i++) {
    const code = bytes[start + i]!
    const lower = code >= 65 && code <= 90 ? code + 32 : code
    if (lower !== name.charCodeAt(i)) return false
  }
  return true
}

/** Returns the header's value as trimmed lowercase text; for rare headers only. */
const headerText = (bytes: Uint8Array, start: number, end: number): string =>
  String.fromCharCode(...bytes.subarray(start, end))
    .trim()
    .toLowerCase()

const parseLength = (bytes: Uint8Array, start: number, end: number): number => {
  let length = 0
  let digits = 0
  for (let i = start; i < end; i++) {
    const code = bytes[i]!
    if (code >= 48 && code <= 57) {
      length = length * 10 + (code - 48)
      digits++
    } else if (code !== 32 && code !== 13 && code !== 9) throw new ResponseMalformedError('bad Content-Length')
  }
  if (digits === 0 || length > MAX_RESPONSE_BYTES) throw new ResponseMalformedError('bad Content-Length')
  return length
}

const parseStatus = (bytes: Uint8Array, start: number): number => {
  // "HTTP/1.1 200": the fields have fixed positions.
  const status = (bytes[start + 9]! - 48) * 100 + (bytes[start + 10]! - 48) * 10 + (bytes[start + 11]! - 48)
  if (bytes[start] !== 72 || bytes[start + 4] !== 47 || !(status >= 100 && status <= 599)) {
    throw new ResponseMalformedError('no HTTP status line')
  }
  return status
}

/** Creates the parser of a connection. `onResponse` receives the same view object each time. */
export const createResponseParser = (onResponse: (response: ResponseView) => void): ResponseParser => {
  const view: ResponseView = { status: 0, bytes: new Uint8Array(0), bodyStart: 0, bodyEnd: 0, closing: false }
  let pending: Uint8Array | null = null

  /** Parses one response at `start`. Returns its end, or -1 if more bytes are needed. */
  const readOne = (bytes: Uint8Array, start: number): number => {
    let lineStart = start
    let contentLength = -1
    let closing = false
    for (let i = start; i < bytes.length; i++) {
      if (bytes[i] !== LINE_FEED) continue
      const lineLength = i - lineStart
      if (lineLength <= 1 && lineStart > start) {
        const status = parseStatus(bytes, start)
        if (contentLength < 0) {
          if (status !== 204 && status !== 304) throw new ResponseMalformedError('no Content-Length')
          contentLength = 0
        }
        const end = i + 1 + contentLength
        if (end > bytes.length) return -1
        view.status = status
        view.bytes = bytes
        view.bodyStart = i + 1
        view.bodyEnd = end
        view.closing = closing
        return end
      }
      const first = bytes[lineStart]! | 32
      if (first === 99 /* c */) {
        if (isHeader(bytes, lineStart, i, 'content-length')) contentLength = parseLength(bytes, lineStart + 15, i)
        else if (isHeader(bytes, lineStart, i, 'connection')) closing = headerText(bytes, lineStart + 11, i) === 'close'
      } else if (first === 116 /* t */ && isHeader(bytes, lineStart, i, 'transfer-encoding')) {
        throw new ResponseMalformedError('chunked answers are not read here: the server must send Content-Length')
      }
      lineStart = i + 1
    }
    return -1
  }

  return {
    push(chunk) {
      let bytes = chunk
      if (pending !== null) {
        bytes = new Uint8Array(pending.length + chunk.length)
        bytes.set(pending)
        bytes.set(chunk, pending.length)
        pending = null
      }
      let offset = 0
      while (offset < bytes.length) {
        const end = readOne(bytes, offset)
        if (end < 0) {
          if (bytes.length - offset > MAX_RESPONSE_BYTES) throw new ResponseMalformedError('response too large')
          pending = bytes.slice(offset)
          return
        }
        offset = end
        onResponse(view)
      }
    },
    reset() {
      pending = null
    },
  }
}
