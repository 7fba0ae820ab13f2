// Parts of the review queue: a notice, a filter and a column.
import type { Session } from '../../../dashboard/page/api/types.ts'
import type { QueueParts } from '../../../dashboard/page/module-pages.ts'
import { Badge } from '../../../dashboard/page/ui/parts.tsx'
import { VerifiedHits } from './verified-hits.tsx'

const Hits = ({ open, confirmed, cleared }: Session['hits']) => (
  <>
    {open > 0 && <Badge tone="warn">{open} open</Badge>}{' '}
    {confirmed > 0 && <Badge tone="bad">{confirmed} confirmed</Badge>}{' '}
    {open + confirmed === 0 && <span class="faint">{cleared > 0 ? `${cleared} cleared` : 'none'}</span>}
  </>
)

export const QUEUE: QueueParts = {
  Notice: VerifiedHits,
  filters: [
    {
      name: 'hits',
      label: 'Hits',
      choices: { '': 'All', open: 'Open', confirmed: 'Confirmed', cleared: 'Cleared', none: 'None' },
    },
  ],
  columns: { Hits: { narrow: true, cell: (session) => <Hits {...session.hits} /> } },
}
