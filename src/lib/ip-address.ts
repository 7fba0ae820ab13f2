// Canonical text of IP addresses: dotted IPv4, and IPv6 per RFC 5952. An IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2)
// becomes its IPv4 address.

const DOT = 46
const COLON = 58
const GROUPS = 8

const isDigit = (character: number): boolean => character >= 48 && character <= 57

/** Returns the four bytes as one number, or -1. Leading zeros are invalid, because some parsers read them as octal. */
const parseIpv4 = (text: string): number => {
  if (text.length < 7 || text.length > 15) return -1
  let address = 0
  let bytes = 0
  let i = 0
  for (;;) {
    const start = i
    let byte = 0
    while (i < text.length && i - start < 3 && isDigit(text.charCodeAt(i))) byte = byte * 10 + text.charCodeAt(i++) - 48
    if (i === start || byte > 255 || (i - start > 1 && text.charCodeAt(start) === 48)) return -1
    address = address * 256 + byte
    if (++bytes === 4) return i === text.length ? address : -1
    if (text.charCodeAt(i++) !== DOT) return -1
  }
}

const formatIpv4 = (address: number): string =>
  `${address >>> 24}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}`

const hexDigit = (character: number): number => {
  if (isDigit(character)) return character - 48
  if (character >= 97 && character <= 102) return character - 87
  if (character >= 65 && character <= 70) return character - 55
  return -1
}

/** Appends the groups of one side of `::`, or of a whole address. Returns false if the text is invalid. */
const parseGroups = (text: string, groups: number[], mayEndInIpv4: boolean): boolean => {
  if (text === '') return true
  let i = 0
  for (;;) {
    const start = i
    let group = 0
    for (; i < text.length && i - start < 5; i++) {
      const digit = hexDigit(text.charCodeAt(i))
      if (digit === -1) break
      group = group * 16 + digit
    }
    if (i < text.length && text.charCodeAt(i) === DOT) {
      const tail = mayEndInIpv4 ? parseIpv4(text.slice(start)) : -1
      if (tail === -1) return false
      groups.push(Math.floor(tail / 65_536), tail % 65_536)
      return true
    }
    if (i === start || i - start > 4) return false
    groups.push(group)
    if (i === text.length) return true
    if (text.charCodeAt(i++) !== COLON || i === text.length) return false
  }
}

/** Returns the eight 16-bit groups, or null. A zone is invalid, because it has no meaning on another host. */
const parseIpv6 = (text: string): readonly number[] | null => {
  if (text.length < 2 || text.length > 45) return null
  const gap = text.indexOf('::')
  const head: number[] = []
  if (gap === -1) return parseGroups(text, head, true) && head.length === GROUPS ? head : null
  const tail: number[] = []
  if (!parseGroups(text.slice(0, gap), head, false) || !parseGroups(text.slice(gap + 2), tail, true)) return null
  const missing = GROUPS - head.length - tail.length
  return missing < 1 ? null : [...head, ...new Array<number>(missing).fill(0), ...tail]
}

/**
 * Formats as in RFC 5952: lowercase, no leading zeros, and the first longest run of two or more zero groups as `::`.
 */
const formatIpv6 = (groups: readonly number[]): string => {
  let best = { start: -1, length: 1 }
  for (let start = 0; start < GROUPS; start++) {
    let end = start
    while (end < GROUPS && groups[end] === 0) end++
    if (end - start > best.length) best = { start, length: end - start }
  }
  const text = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(':')
  if (best.start === -1) return text(groups)
  return `${text(groups.slice(0, best.start))}::${text(groups.slice(best.start + best.length))}`
}

const isMapped = ([a, b, c, d, e, f]: readonly number[]): boolean =>
  a === 0 && b === 0 && c === 0 && d === 0 && e === 0 && f === 0xffff

/** Returns the canonical text; null if the text is not an address. */
export const parseIpAddress = (text: string): string | null => {
  if (parseIpv4(text) !== -1) return text
  const groups = parseIpv6(text)
  if (groups === null) return null
  const [high = 0, low = 0] = groups.slice(6)
  return isMapped(groups) ? formatIpv4(high * 65_536 + low) : formatIpv6(groups)
}

/** Leading groups that identify a subscriber's network, in which the subscriber has all 2^64 addresses. */
const NETWORK_GROUPS = 4

/**
 * Returns the network that counts as one client: the address for IPv4, its /64 for IPv6. Returns other texts unchanged.
 */
export const networkOf = (text: string): string => {
  const address = parseIpAddress(text)
  const groups = address === null ? null : parseIpv6(address)
  if (groups === null) return address ?? text
  return `${formatIpv6([...groups.slice(0, NETWORK_GROUPS), 0, 0, 0, 0])}/64`
}
