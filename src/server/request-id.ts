// Gives each request an id: the caller's X-Request-Id if it is usable, otherwise a new one (decisions §1). The id is a
// label for logs and support and grants nothing, so it must only be unique and cheap, not unguessable.
import { randomBase62 } from '../domain/identifier.ts'

/** `length` or fewer characters, all visible ASCII (0x21 to 0x7e): safe in a header, a log line and JSON. */
export const isVisibleAscii = (text: string, maxLength: number): boolean => {
  if (text.length === 0 || text.length > maxLength) return false
  for (let i = 0; i < text.length; i++) {
    const character = text.charCodeAt(i)
    if (character < 0x21 || character > 0x7e) return false
  }
  return true
}

/** The caller's id, or a new one: eight random base62 characters of this process, then a counter in base 36. */
export type RequestIdSource = (header: string | null) => string

export const createRequestIds = (processPart = randomBase62(8)): RequestIdSource => {
  let count = 0
  return (header) => {
    if (header !== null && isVisibleAscii(header, 128)) return header
    return `${processPart}-${(++count).toString(36)}`
  }
}
