import type { QueryOf } from '../api/client.ts'
import type { Session } from '../api/types.ts'
import { useList } from '../data/use-pages.ts'
import { useWorkplace } from '../shell/session.ts'
import { shortId } from '../ui/copy.tsx'
import { Badge, Card, Empty } from '../ui/parts.tsx'
import { badge, PagedTable, time } from '../ui/table.tsx'
import { LEVEL_WORDS, STATUS_TONES, STATUS_WORDS, TYPE_WORDS } from './labels.ts'

interface SessionTableProps {
  readonly query: QueryOf<'GET /organizations/{organization}/sessions'>
}

export const SessionTable = ({ query }: SessionTableProps) => {
  const { params, path } = useWorkplace()
  return (
    <Card flush title="Sessions">
      <PagedTable<Session>
        caption="Sessions"
        pages={useList('GET /organizations/{organization}/sessions', { params, query: { ...query, limit: 20 } })}
        rowKey={({ id }) => id}
        href={({ id }) => `${path(`/reviews/${id}`)}?status=all`}
        columns={{
          Session: ({ id, type, environment }) => (
            <>
              {TYPE_WORDS[type]} <code class="faint">{shortId(id)}</code>{' '}
              {environment === 'test' && <Badge tone="info">Test</Badge>}
            </>
          ),
          Status: badge(({ status }) => [STATUS_TONES[status], STATUS_WORDS[status]]),
          Level: { narrow: true, cell: ({ level }) => LEVEL_WORDS[level] },
          Created: time('created_at'),
        }}
        empty={
          <Empty icon="review" title="No sessions">
            <p>Your organization has no matching sessions.</p>
          </Empty>
        }
      />
    </Card>
  )
}
