// Entered and document data side by side. The audit log records each access.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../../../dashboard/page/api/client.ts'
import type { SessionCheck, SessionDetail } from '../../../dashboard/page/api/types.ts'
import { useQuery } from '../../../dashboard/page/data/use-query.ts'
import { OUTCOME_TONES, OUTCOME_WORDS } from '../../../dashboard/page/reviews/session-checks.tsx'
import { useWorkplace } from '../../../dashboard/page/shell/session.ts'
import { Button } from '../../../dashboard/page/ui/button.tsx'
import { Badge, Card } from '../../../dashboard/page/ui/parts.tsx'
import { Problem } from '../../../dashboard/page/ui/problem.tsx'
import { Table } from '../../../dashboard/page/ui/table.tsx'

interface Compared {
  readonly label: string
  readonly check: string
  readonly typed: string | null
  readonly read: string | null
}

interface ComparisonProps {
  readonly session: SessionDetail
  readonly checks: readonly SessionCheck[]
}

const SideBySide = ({ session, checks }: ComparisonProps) => {
  const { params } = useWorkplace()
  const path = { ...params, session: session.id }
  const { value, error, reload } = useQuery(
    async (signal) => ({
      typed: await call('POST /organizations/{organization}/sessions/{session}/evidence/fields', {
        params: path,
        signal,
      }),
      read: await call('POST /organizations/{organization}/sessions/{session}/evidence/zone', { params: path, signal }),
    }),
    [path],
  )
  if (value === null) return <Problem error={error} retry={reload} />
  const { typed, read } = value
  const rows: readonly Compared[] = [
    { label: 'Name', check: 'document.name', typed: typed.full_name, read: `${read.surname}, ${read.given_names}` },
    { label: 'Date of birth', check: 'document.birth-date', typed: typed.birth_date, read: read.birth_date },
    {
      label: 'Country',
      check: 'document.country',
      typed: typed.country,
      read: [...new Set([read.nationality, read.issuer])].join(', issued by '),
    },
    { label: 'Valid until', check: 'document.expiry', typed: null, read: read.expiry_date },
    { label: 'Number', check: 'document.number', typed: null, read: read.number },
  ]
  const outcomeOf = (row: Compared): ComponentChildren => {
    const outcome = checks.find(({ check }) => check === row.check)?.outcome
    if (outcome === undefined) return ''
    return <Badge tone={OUTCOME_TONES[outcome]}>{outcome === 'failed' ? 'Differs' : OUTCOME_WORDS[outcome]}</Badge>
  }
  return (
    <Table
      caption="Entered data and document data"
      rows={rows}
      rowKey={({ label }) => label}
      columns={{
        Field: ({ label }) => label,
        Entered: (row) => row.typed ?? <span class="faint">not requested</span>,
        'On the document': (row) => row.read ?? <span class="faint">not on the document</span>,
        Result: { cell: outcomeOf, narrow: true },
      }}
    />
  )
}

export const Comparison = ({ session, checks }: ComparisonProps) => {
  const [open, setOpen] = useState(session.status === 'submitted')
  const wasRead = checks.some(
    ({ check, outcome }) => check === 'document.zone' && (outcome === 'passed' || outcome === 'look'),
  )
  if (!wasRead) return null
  return (
    <Card title="Entered data and document data" flush={open}>
      {open ? (
        <SideBySide session={session} checks={checks} />
      ) : (
        <div>
          <Button icon="search" onClick={() => setOpen(true)}>
            Compare side by side
          </Button>
        </div>
      )}
    </Card>
  )
}
