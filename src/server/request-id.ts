// Assigns request ids: the caller's X-Request-Id if usable, otherwise a new id (decisions §1). An id grants nothing, so
// it must be unique and cheap, but not unguessable.
import { randomBase62 } from '../domain/identifier.ts'

/** Returns whether all characters are from 0x21 to 0x7e: safe in headers, log lines and JSON. */
export const isVisibleAscii = (text: string, maxLength: number): boolean => {
  if (text.length === 0 || text.length > maxLength) return false
  for (let i = 0; i < text.length; i++) {
    const character = text.charCodeAt(i)
    if (character < 0x21 || character > 0x7e) return false
  }
  return true
}

/** Returns the caller's id or a new one: eight random base62 characters per process, then a counter in base 36. */
export type RequestIdSource = (header: string | null) => string

export const createRequestIds = (processPart = randomBase62(8)): RequestIdSource => {
  let count = 0
  return (header) => {
    if (header !== null && isVisibleAscii(header, 128)) return header
    return `${processPart}-${(++count).toString(36)}`
  }
}
