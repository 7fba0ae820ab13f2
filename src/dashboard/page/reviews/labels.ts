import type { Session, SessionDetail } from '../api/types.ts'
import type { Tone } from '../ui/problem.tsx'

export type SessionStatus = Session['status']
export type SessionEvent = SessionDetail['events'][number]

export const STATUS_WORDS: Readonly<Record<SessionStatus, string>> = {
  pending: 'In progress',
  submitted: 'To review',
  completed: 'Completed',
  rejected: 'Rejected',
  retry: 'Sent back',
}

export const STATUS_TONES: Readonly<Record<SessionStatus, Tone | 'plain'>> = {
  pending: 'plain',
  submitted: 'info',
  completed: 'good',
  rejected: 'bad',
  retry: 'warn',
}

export const TYPE_WORDS: Readonly<Record<Session['type'], string>> = { individual: 'Person', business: 'Business' }

export const LEVEL_WORDS: Readonly<Record<Session['level'], string>> = {
  basic: 'Basic',
  standard: 'Standard',
  enhanced: 'Enhanced',
}

/** Labels by API name: evidence fields, document kinds, `wallets`. */
const PART_WORDS: Readonly<Record<string, string>> = {
  wallets: 'Wallets',
  fullName: 'Full name',
  birthDate: 'Date of birth',
  country: 'Country',
  registeredName: 'Registered name',
  registrationNumber: 'Registration number',
  owners: 'Owners',
  'identity-document': 'Identity document',
  portrait: 'Portrait',
  'proof-of-address': 'Proof of address',
  'registration-document': 'Registration document',
  'confirmed-hit': 'Confirmed hit',
}

export const inOrder = (parts: Iterable<string>): readonly string[] => {
  const names = Object.keys(PART_WORDS)
  // Unknown parts and `wallets` come last.
  const place = (part: string): number =>
    part === 'wallets' || !names.includes(part) ? names.length : names.indexOf(part)
  return [...new Set(parts)].sort((left, right) => place(left) - place(right))
}

export const partWord = (part: string): string => PART_WORDS[part] ?? part

const EVENT_WORDS: Readonly<Record<string, string>> = {
  created: 'Session created',
  'wallet-connected': 'Wallet connected',
  'wallet-removed': 'Wallet removed',
  'origin-changed': 'Return URL changed',
  'level-changed': 'Level changed',
  consented: 'Consent to share the result given',
  'consent-withdrawn': 'Consent to share the result withdrawn',
  'details-consented': 'Consent to use country and age given',
  'details-consent-withdrawn': 'Consent to use country and age withdrawn',
  'evidence-changed': 'Evidence changed',
  'evidence-erased': 'Evidence erased',
}

export const eventWord = ({ kind, status }: SessionEvent): string => {
  if (kind !== 'status') return EVENT_WORDS[kind] ?? kind
  return status === 'submitted' ? 'Submitted' : STATUS_WORDS[status]
}

/** Returns the actor's name: `operator:Ada Byron` → `Ada Byron`; keys and policies by their names. */
export const actorWord = ({
  actor,
  key_name: keyName,
  policy_name: policyName,
}: Pick<SessionEvent, 'actor' | 'key_name' | 'policy_name'>): string => {
  if (policyName !== null) return `policy ${policyName}, revision ${actor.split(':').at(-1)}`
  if (keyName !== null) return `API key ${keyName}`
  const colon = actor.indexOf(':')
  const name = actor.slice(colon + 1)
  if (colon === -1) return actor === 'person' ? 'the person' : actor
  const kind = actor.slice(0, colon)
  // An operator may be a program.
  if (kind === 'operator') return name.startsWith('key:') ? `API key ${name.slice('key:'.length)}` : name
  if (kind === 'key') return `API key ${name}`
  return kind === 'provider' ? `provider ${name}` : actor
}

const regionNames = new Intl.DisplayNames('en', { type: 'region' })

export const countryWord = (code: string): string => {
  try {
    return `${regionNames.of(code) ?? code} (${code})`
  } catch {
    return code
  }
}
