// Encodes a wallet's standing as bytes. A standing that can't be encoded isn't cached: text that isn't Latin-1, or is
// too long for a length byte.

import type { CheckType, SessionStatus } from '../../domain/session.ts'
import type { VerifiedWallet } from '../../domain/standing.ts'
import { NamedError } from '../../lib/named-error.ts'
import type { KnownStanding, StandingsByType, StandingType } from './standing.ts'

/** Maximum size of a record: enough for three standings with a few hundred wallets each. */
export const RECORD_BYTES_MAX = 65_536

const STATUSES: readonly (SessionStatus | null)[] = [null, 'pending', 'submitted', 'completed', 'rejected', 'retry']
const CHECK_TYPES: readonly CheckType[] = ['kyc', 'kyb']
const STORED_TYPES = ['kyc', 'kyb'] as const

const VERIFIED = 1
const HAS_TIME = 2
const HAS_USER = 4
const CHECK_TYPE_SHIFT = 3
const LEVEL_SHIFT = 4
const LEVEL_MASK = 3
const DETAILS_READ = 64
const HAS_DETAILS = 128
const COUNTRY_LENGTH = 2
const BYTE_MAX = 255

const NONE = 0
const AS_ANY = 1
const FOLLOWS = 2

export const NEVER_SEEN: KnownStanding = Object.freeze({
  verifying: null,
  status: null,
  userId: null,
  wallets: Object.freeze([]),
})

class NoShortFormError extends NamedError {}

let target: Uint8Array = new Uint8Array(0)
let at = 0

const writeByte = (value: number): void => {
  if (value > BYTE_MAX || at >= target.length) throw new NoShortFormError()
  target[at++] = value
}

const writeText = (text: string): void => {
  writeByte(text.length)
  for (let index = 0; index < text.length; index++) writeByte(text.charCodeAt(index))
}

const writeStanding = ({ verifying, status, userId, wallets, details }: KnownStanding): void => {
  writeByte(STATUSES.indexOf(status))
  const seconds = verifying?.completedAtSeconds ?? null
  writeByte(
    (verifying === null ? 0 : VERIFIED) |
      (seconds === null ? 0 : HAS_TIME) |
      (userId === null ? 0 : HAS_USER) |
      (verifying === null ? 0 : CHECK_TYPES.indexOf(verifying.checkType) << CHECK_TYPE_SHIFT) |
      ((verifying?.level ?? 0) << LEVEL_SHIFT) |
      (details === undefined ? 0 : DETAILS_READ) |
      (details == null ? 0 : HAS_DETAILS),
  )
  if (seconds !== null) {
    if (seconds > 0xffff_ffff) throw new NoShortFormError()
    for (let shift = 24; shift >= 0; shift -= 8) writeByte((seconds >>> shift) & BYTE_MAX)
  }
  if (userId !== null) writeText(userId)
  if (details != null) writeText(details.country + details.birthDate)
  writeByte(wallets.length)
  for (const { address, chain } of wallets) {
    writeText(address)
    writeText(chain)
  }
}

export const writeStandings = (standings: StandingsByType, into: Uint8Array): number => {
  target = into
  at = 0
  try {
    writeStanding(standings.any)
    for (const type of STORED_TYPES) {
      const standing = standings[type]
      const place = standing === standings.any ? AS_ANY : standing.status === null ? NONE : FOLLOWS
      writeByte(place)
      if (place === FOLLOWS) writeStanding(standing)
    }
    return at
  } catch (error) {
    if (error instanceof NoShortFormError) return 0
    throw error
  }
}

let source: Buffer = Buffer.alloc(0)
/** Decoding the record once and slicing it is cheaper than decoding each text. */
let sourceText = ''
let textStart = 0

const readText = (): string => {
  const start = at + 1
  at = start + source[at]!
  return sourceText.slice(start - textStart, at - textStart)
}

const readDetails = (flags: number): KnownStanding['details'] => {
  if ((flags & HAS_DETAILS) === 0) return (flags & DETAILS_READ) === 0 ? undefined : null
  const text = readText()
  return { country: text.slice(0, COUNTRY_LENGTH), birthDate: text.slice(COUNTRY_LENGTH) }
}

const readStanding = (): KnownStanding => {
  const status = STATUSES[source[at++]!]!
  const flags = source[at++]!
  let completedAtSeconds: number | null = null
  if ((flags & HAS_TIME) !== 0) {
    completedAtSeconds = source.readUInt32BE(at)
    at += 4
  }
  const userId = (flags & HAS_USER) === 0 ? null : readText()
  const details = readDetails(flags)
  const wallets: VerifiedWallet[] = []
  for (let left = source[at++]!; left > 0; left--) wallets.push({ address: readText(), chain: readText() })
  if ((flags & VERIFIED) === 0) return { verifying: null, status, userId, wallets, details }
  const checkType = CHECK_TYPES[(flags >> CHECK_TYPE_SHIFT) & 1]!
  const level = ((flags >> LEVEL_SHIFT) & LEVEL_MASK) as 1 | 2 | 3
  return { verifying: { checkType, level, completedAtSeconds }, status, userId, wallets, details }
}

export const readStandingAt = (bytes: Buffer, start: number, end: number, type: StandingType): KnownStanding => {
  source = bytes
  sourceText = bytes.toString('latin1', start, end)
  textStart = start
  at = start
  const any = readStanding()
  if (type === 'any') return any
  for (const stored of STORED_TYPES) {
    const place = source[at++]!
    const standing = place === AS_ANY ? any : place === FOLLOWS ? readStanding() : NEVER_SEEN
    if (stored === type) return standing
  }
  return NEVER_SEEN
}
