// Texts for the checks against lists and screeners: labels and outcomes.
import type { ReviewParts } from '../../../dashboard/page/module-pages.ts'

const NOT_DONE = 'The check could not run. This is a service error, not the person’s fault.'
const CONFIRMED = 'A hit was confirmed.'

const CHECKS: Readonly<Record<string, { readonly label: string; readonly [outcome: string]: string }>> = {
  lists: { label: 'Sanctions lists', 'not-done': NOT_DONE },
  'lists.names': {
    label: 'Sanctions lists',
    look: 'A listed name is similar. Clear or confirm each hit above.',
    failed: CONFIRMED,
  },
  'wallets.lists': {
    label: 'Wallets on lists',
    look: 'A wallet is on a list. Clear or confirm each hit above.',
    failed: CONFIRMED,
    'not-done': NOT_DONE,
  },
  'wallets.screeners': {
    label: 'Screeners',
    'not-done': 'The screeners could not be queried. This is a service error, not the person’s fault.',
  },
}

/** Followed by the name of the screener. */
const SCREENER = 'wallets.screeners.'
const BY_SCREENER: Readonly<Record<string, string>> = {
  look: 'A wallet is flagged. Clear or confirm each hit above.',
  failed: CONFIRMED,
  'not-done': NOT_DONE,
}

export const describeCheck: NonNullable<ReviewParts['describeCheck']> = ({ check, outcome }) => {
  if (check.startsWith(SCREENER)) {
    return { label: `Wallets by ${check.slice(SCREENER.length)}`, text: BY_SCREENER[outcome] ?? '' }
  }
  const words = CHECKS[check]
  return words === undefined ? null : { label: words.label, text: words[outcome] ?? '' }
}
