// Parses the caller's `traceparent` (W3C Trace Context, level 1). Ignores an invalid header (§3.2.2.5).

export interface TraceParent {
  /** 32 lowercase hex digits. */
  readonly traceId: string
  /** Span id of the caller: 16 lowercase hex digits. */
  readonly parentId: string
  readonly sampled: boolean
}

const isLowerHex = (text: string, start: number, end: number): boolean => {
  for (let i = start; i < end; i++) {
    const character = text.charCodeAt(i)
    if (!((character >= 48 && character <= 57) || (character >= 97 && character <= 102))) return false
  }
  return true
}

const isZero = (text: string, start: number, end: number): boolean => {
  for (let i = start; i < end; i++) if (text.charCodeAt(i) !== 48) return false
  return true
}

const DASH = 45

export const parseTraceParent = (header: string | null): TraceParent | null => {
  if (header === null || header.length < 55) return null
  // Version 00 has exactly 55 characters. Later versions may add fields after a dash (§3.2.4). Version ff is forbidden.
  const version = header.slice(0, 2)
  if (!isLowerHex(header, 0, 2) || version === 'ff') return null
  if (version === '00' ? header.length !== 55 : header.length > 55 && header.charCodeAt(55) !== DASH) return null
  if (header.charCodeAt(2) !== DASH || header.charCodeAt(35) !== DASH || header.charCodeAt(52) !== DASH) return null
  if (!isLowerHex(header, 3, 35) || !isLowerHex(header, 36, 52) || !isLowerHex(header, 53, 55)) return null
  if (isZero(header, 3, 35) || isZero(header, 36, 52)) return null
  return {
    traceId: header.slice(3, 35),
    parentId: header.slice(36, 52),
    sampled: (Number.parseInt(header.slice(53, 55), 16) & 1) === 1,
  }
}
