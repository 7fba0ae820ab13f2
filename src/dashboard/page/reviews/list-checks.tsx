// Whom of the sanctions lists the session's people resemble. A hit is cleared or confirmed with a reason, which is kept; a
// session with an open hit can't be completed.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { ListCheck, SessionDetail } from '../api/types.ts'
import { useForm } from '../data/use-form.ts'
import { useQuery } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'
import { Button } from '../ui/button.tsx'
import { FormDialog } from '../ui/dialog.tsx'
import { TextArea } from '../ui/field.tsx'
import { Badge, Card } from '../ui/parts.tsx'
import { Problem, type Tone } from '../ui/problem.tsx'
import { Table } from '../ui/table.tsx'
import { say } from '../ui/toast.tsx'
import { useInterval } from './use-interval.ts'

type Hit = ListCheck['hits'][number]
type Decided = Exclude<Hit['state'], 'open'>

const LOOK_AGAIN_MS = 2_000
const REASON_MIN = 3

const STATE_WORDS: Readonly<Record<Hit['state'], string>> = {
  open: 'Look here',
  cleared: 'Somebody else',
  confirmed: 'The same',
}
const STATE_TONES: Readonly<Record<Hit['state'], Tone | 'plain'>> = { open: 'warn', cleared: 'good', confirmed: 'bad' }

const DECISIONS: Readonly<Record<Decided, { readonly title: string; readonly label: string; readonly hint: string }>> =
  {
    cleared: {
      title: 'Somebody else',
      label: 'Clear the hit',
      hint: 'What shows that it is somebody else, for example another date of birth. Kept with the session.',
    },
    confirmed: {
      title: 'The same person or company',
      label: 'Confirm the hit',
      hint: 'What shows that it is the same. Kept with the session, which then is yours to reject.',
    },
  }

interface DecideProps {
  readonly session: SessionDetail
  readonly hit: Hit
  readonly state: Decided
  readonly onClose: () => void
  readonly onDecided: () => void
}

const DecideHit = ({ session, hit, state, onClose, onDecided }: DecideProps) => {
  const { params } = useWorkplace()
  const { title, label, hint } = DECISIONS[state]
  const form = useForm({
    initial: { reason: '' },
    check: ({ reason }): Record<string, string> =>
      reason.trim().length < REASON_MIN ? { reason: 'Say why: the next one who looks reads it.' } : {},
    submit: async ({ reason }): Promise<void> => {
      await call('POST /organizations/{organization}/sessions/{session}/checks/lists/{hit}', {
        params: { ...params, session: session.id, hit: hit.id },
        body: { state, reason: reason.trim() },
      })
      say(state === 'cleared' ? 'Hit cleared' : 'Hit confirmed')
      onDecided()
      onClose()
    },
  })
  return (
    <FormDialog
      title={title}
      form={form}
      submitLabel={label}
      submitKind={state === 'confirmed' ? 'danger' : 'primary'}
      onClose={onClose}
    >
      <p class="confirm-text">
        {hit.name} on {hit.list}, entry {hit.entry}.
      </p>
      <TextArea {...form.text('reason')} label="Reason" hint={hint} rows={3} />
    </FormDialog>
  )
}

const Why = ({ hit }: { readonly hit: Hit }) => (
  <>
    {hit.why.map(({ part, points, detail }) => (
      <div key={part}>
        {detail} <span class="faint">({points > 0 && part !== 'name' ? `+${points}` : points})</span>
      </div>
    ))}
    {hit.reason !== null && (
      <div>
        “{hit.reason}” <span class="faint">{hit.decided_by}</span>
      </div>
    )}
  </>
)

export const ListChecks = ({ session }: { readonly session: SessionDetail }) => {
  const { params } = useWorkplace()
  const [deciding, setDeciding] = useState<{ readonly hit: Hit; readonly state: Decided } | null>(null)
  const path = { ...params, session: session.id }
  const { value, error, reload } = useQuery(
    (signal) => call('GET /organizations/{organization}/sessions/{session}/checks/lists', { params: path, signal }),
    [path, session.sequence],
  )
  const waiting = value?.outcome === 'waiting' && session.status === 'submitted'
  useInterval(LOOK_AGAIN_MS, () => {
    if (waiting) reload()
  })
  if (value === null) return <Problem error={error} retry={reload} />
  const { outcome, detail, hits, versions } = value
  if (hits.length === 0 && (outcome === 'off' || (outcome === 'waiting' && !waiting))) return null
  return (
    <Card title="Sanctions lists" text="While a hit is open, the session can’t be completed.">
      {waiting && <p class="soft">The names are being compared.</p>}
      {outcome === 'not-done' && <p class="soft">Not compared: {detail}.</p>}
      {outcome === 'passed' && hits.length === 0 && (
        <p class="soft">Nobody alike on {versions.map(({ list }) => list).join(', ')}.</p>
      )}
      {hits.length > 0 && (
        <Table
          caption="Listed people and companies with a name like it"
          rows={hits}
          rowKey={({ id }) => id}
          columns={[
            {
              label: 'On the list',
              cell: ({ name, list, entry }) => (
                <>
                  {name}
                  <div class="faint">
                    {list}, entry {entry}
                  </div>
                </>
              ),
            },
            { label: 'Whose name', cell: ({ subject }) => subject, narrow: true },
            { label: 'Alike', cell: ({ score }) => `${score} of 100`, narrow: true },
            { label: 'Why', cell: (hit) => <Why hit={hit} /> },
            {
              label: 'Outcome',
              cell: (hit) =>
                hit.state === 'open' ? (
                  <div class="form-actions">
                    <Button onClick={() => setDeciding({ hit, state: 'cleared' })}>Somebody else</Button>
                    <Button onClick={() => setDeciding({ hit, state: 'confirmed' })}>The same</Button>
                  </div>
                ) : (
                  <Badge tone={STATE_TONES[hit.state]}>{STATE_WORDS[hit.state]}</Badge>
                ),
              narrow: true,
            },
          ]}
        />
      )}
      {deciding !== null && (
        <DecideHit {...deciding} session={session} onClose={() => setDeciding(null)} onDecided={reload} />
      )}
    </Card>
  )
}
