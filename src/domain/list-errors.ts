import { CountersignError } from './errors.ts'

const REMEDIES = {
  'list entries': 'remove entries or lists first, or raise the setting “list-entries-max”',
  'list entries awaiting approval': 'approve or reject an upload first',
} as const

export type LimitedListKind = keyof typeof REMEDIES

/** The organization has the maximum number of entries in all lists together (409). */
export class ListLimitError extends CountersignError {
  readonly kind: LimitedListKind
  readonly maximum: number
  constructor(kind: LimitedListKind, maximum: number) {
    super('CONFLICT', `an organization can have at most ${maximum.toLocaleString('en-US')} ${kind}: ${REMEDIES[kind]}`)
    this.kind = kind
    this.maximum = maximum
  }
}
