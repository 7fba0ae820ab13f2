import { useState } from 'preact/hooks'
import { type AnswerOf, call } from '../../../dashboard/page/api/client.ts'
import { useAction } from '../../../dashboard/page/data/use-action.ts'
import { useSearchParam } from '../../../dashboard/page/router.ts'
import { useWorkplace } from '../../../dashboard/page/shell/session.ts'
import { Button } from '../../../dashboard/page/ui/button.tsx'
import { shortId } from '../../../dashboard/page/ui/copy.tsx'
import { Badge, Card, Empty, Page } from '../../../dashboard/page/ui/parts.tsx'
import { Problem } from '../../../dashboard/page/ui/problem.tsx'
import { Segments } from '../../../dashboard/page/ui/segments.tsx'
import { Table } from '../../../dashboard/page/ui/table.tsx'
import { counted } from '../../../lib/counted.ts'

type ThresholdTrial = AnswerOf<'POST /organizations/{organization}/screening/trial'>
const DECIDED = {
  open: <Badge tone="warn">Open</Badge>,
  cleared: <Badge tone="good">Cleared</Badge>,
  confirmed: <Badge tone="bad">Confirmed</Badge>,
} as const

const Counts = ({ trial }: { readonly trial: ThresholdTrial }) => (
  <Card
    flush
    title="Hits by threshold"
    text={`Compared with today’s lists: ${trial.exact ? '' : 'the newest '}${counted(trial.sessions, 'submitted, completed or returned session', 'submitted, completed or returned sessions')}.${
      trial.unread === 0 ? '' : ` ${trial.unread.toLocaleString('en')} of them could not be read.`
    }`}
  >
    <Table<ThresholdTrial['counts'][number]>
      caption="Hits by threshold"
      rows={trial.counts}
      rowKey={({ threshold }) => String(threshold)}
      columns={{
        Threshold: ({ threshold }) => (
          <>
            {threshold} {threshold === trial.threshold && <Badge tone="info">Current</Badge>}
          </>
        ),
        Hits: { align: 'end', narrow: true, cell: ({ hits }) => hits },
        Sessions: { align: 'end', narrow: true, cell: ({ sessions }) => sessions },
      }}
    />
  </Card>
)

const Between = ({ trial }: { readonly trial: ThresholdTrial }) => {
  const { path } = useWorkplace()
  const [text, choose] = useSearchParam('from')
  const chosen = trial.counts.find(({ threshold }) => String(threshold) === text)?.threshold ?? trial.threshold
  const [from, to] = [Math.min(chosen, trial.threshold), Math.max(chosen, trial.threshold)]
  const rows = trial.names.filter(({ score }) => score >= from && score < to)
  const words =
    chosen === trial.threshold
      ? 'Choose a threshold to see the names between it and the current one.'
      : chosen < trial.threshold
        ? `These would also be hits at a threshold of ${chosen}.`
        : `These would not be hits at a threshold of ${chosen}.`
  return (
    <Card
      flush
      title="Changed names"
      text={words}
      actions={
        <Segments
          label="Threshold"
          value={String(chosen)}
          onValue={choose}
          choices={trial.counts.map(({ threshold }) => ({ value: String(threshold), label: String(threshold) }))}
        />
      }
    >
      {rows.length > 0 ? (
        <Table<ThresholdTrial['names'][number]>
          caption="Names between the two thresholds"
          rows={rows}
          rowKey={(row) => `${row.session_id} ${row.list} ${row.entry} ${row.subject}`}
          href={({ session_id: id }) => `${path(`/reviews/${id}`)}?status=all`}
          columns={{
            Session: ({ session_id: id }) => <code>{shortId(id)}</code>,
            Subject: { narrow: true, cell: ({ subject }) => subject },
            'Listed name': ({ name }) => name,
            List: ({ list, entry }) => (
              <span class="faint">
                {list}, {entry}
              </span>
            ),
            Score: { align: 'end', narrow: true, cell: ({ score }) => score },
            State: {
              narrow: true,
              cell: ({ state }) => (state === null ? <span class="faint">Not a hit</span> : DECIDED[state]),
            },
          }}
        />
      ) : (
        chosen !== trial.threshold && (
          <Empty icon="check" title="No difference">
            <p>
              Thresholds {chosen} and {trial.threshold} find the same names.
            </p>
          </Empty>
        )
      )}
    </Card>
  )
}

export const Thresholds = () => {
  const { params } = useWorkplace()
  const [trial, setTrial] = useState<ThresholdTrial | null>(null)
  const compare = useAction(async () => {
    setTrial(await call('POST /organizations/{organization}/screening/trial', { params }))
  })
  return (
    <Page
      title="Thresholds"
      lead="Hits that other thresholds would have found. Names are compared with today’s lists; sessions are not changed."
      actions={
        <Button kind="primary" icon="search" busy={compare.busy} onClick={() => compare.run()}>
          {trial === null ? 'Compare' : 'Compare again'}
        </Button>
      }
    >
      <Problem error={compare.failure} />
      {trial === null ? (
        <Card>
          <Empty icon="search" title="No comparison yet">
            <p>A comparison takes a few seconds and is recorded in the audit log.</p>
          </Empty>
        </Card>
      ) : (
        <>
          <Counts trial={trial} />
          <Between trial={trial} />
        </>
      )}
    </Page>
  )
}
