import { useContext } from 'preact/hooks'
import type { Session } from '../../../dashboard/page/api/types.ts'
import type { ModuleParts, QueueParts, ReviewParts } from '../../../dashboard/page/module-pages.ts'
import { useWorkplace } from '../../../dashboard/page/shell/session.ts'
import { WaitingContext } from '../../../dashboard/page/shell/waiting.ts'
import { ButtonLink } from '../../../dashboard/page/ui/button.tsx'
import { Badge } from '../../../dashboard/page/ui/parts.tsx'
import { Notice } from '../../../dashboard/page/ui/problem.tsx'
import { ListChecks } from './list-checks.tsx'
import { VERIFIED_HITS, verifiedHits } from './pages.ts'
import { ScreeningCard } from './settings-card.tsx'

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

/** Prefix of a check's name, followed by the screener's name. */
const SCREENER = 'wallets.screeners.'
const BY_SCREENER: Readonly<Record<string, string>> = {
  look: 'A wallet is flagged. Clear or confirm each hit above.',
  failed: CONFIRMED,
  'not-done': NOT_DONE,
}

const describeCheck: NonNullable<ReviewParts['describeCheck']> = ({ check, outcome }) => {
  if (check.startsWith(SCREENER)) {
    return { label: `Wallets by ${check.slice(SCREENER.length)}`, text: BY_SCREENER[outcome] ?? '' }
  }
  const words = CHECKS[check]
  return words === undefined ? null : { label: words.label, text: words[outcome] ?? '' }
}

/** Verified people with an undecided hit are in no queue. */
const VerifiedHits = () => {
  const { path } = useWorkplace()
  const hits = useContext(WaitingContext)?.hits
  if (hits === undefined || hits.verified === 0) return null
  return (
    <Notice
      tone="warn"
      title={verifiedHits(hits)}
      actions={
        <ButtonLink small href={path(VERIFIED_HITS)}>
          Show sessions
        </ButtonLink>
      }
    >
      <p>A changed list matches a name or wallet. Clear or confirm each hit, and revoke the session if necessary.</p>
    </Notice>
  )
}

const Hits = ({ open, confirmed, cleared }: Session['hits']) => (
  <>
    {open > 0 && <Badge tone="warn">{open} open</Badge>}{' '}
    {confirmed > 0 && <Badge tone="bad">{confirmed} confirmed</Badge>}{' '}
    {open + confirmed === 0 && <span class="faint">{cleared > 0 ? `${cleared} cleared` : 'none'}</span>}
  </>
)

const QUEUE: QueueParts = {
  Notice: VerifiedHits,
  filters: [
    {
      name: 'hits',
      label: 'Hits',
      choices: { '': 'All', open: 'Open', confirmed: 'Confirmed', cleared: 'Cleared', none: 'None' },
    },
  ],
  orders: { hits: 'Open hits first' },
  columns: { Hits: { narrow: true, cell: (session) => <Hits {...session.hits} /> } },
}

export const PARTS: ModuleParts = {
  settings: { tab: 'checks', Card: ScreeningCard },
  review: { describeCheck, Section: ListChecks },
  queue: QUEUE,
}
