// Automatic checks of a session with their outcomes. Modules run and describe them. Checks decide nothing.
import type { SessionCheck, SessionDetail } from '../api/types.ts'
import { useRead } from '../data/use-query.ts'
import type { CheckDescription, ReviewParts } from '../module-pages.ts'
import { useWorkplace } from '../shell/session.ts'
import { Badge, Card } from '../ui/parts.tsx'
import { Problem, type Tone } from '../ui/problem.tsx'
import { Table } from '../ui/table.tsx'
import { countryWord } from './labels.ts'
import { useInterval } from './use-interval.ts'

const LOOK_AGAIN_MS = 2_000

export const OUTCOME_WORDS: Readonly<Record<SessionCheck['outcome'], string>> = {
  passed: 'Passed',
  look: 'Needs review',
  failed: 'Failed',
  unreadable: 'Unreadable',
  'not-done': 'Not run',
}
export const OUTCOME_TONES: Readonly<Record<SessionCheck['outcome'], Tone | 'plain'>> = {
  passed: 'good',
  look: 'warn',
  failed: 'bad',
  unreadable: 'plain',
  'not-done': 'plain',
}

const SEVEREST_FIRST: readonly SessionCheck['outcome'][] = ['failed', 'look', 'unreadable', 'not-done']

interface SessionChecksProps {
  readonly session: SessionDetail
  readonly parts: readonly ReviewParts[]
  /** Number of hits cleared or confirmed on this page, on which outcomes depend. */
  readonly decidedHits: number
}

export const SessionChecks = ({ session, parts, decidedHits }: SessionChecksProps) => {
  const { params, path: pathTo } = useWorkplace()
  const { value, error, reload } = useRead(
    'GET /organizations/{organization}/sessions/{session}/checks/documents',
    { params: { ...params, session: session.id } },
    [session.sequence, decidedHits],
  )
  const waiting = value?.waiting === true
  useInterval(LOOK_AGAIN_MS, () => {
    if (waiting) reload()
  })
  if (value === null) return <Problem error={error} retry={reload} />
  const { checks } = value
  if (checks.length === 0 && !waiting) return null
  const describe = (check: SessionCheck): CheckDescription => {
    const found = parts.map(({ describeCheck }) => describeCheck?.(check) ?? null).find((each) => each !== null)
    const { label, text } = found ?? { label: check.check, text: '' }
    return { label, text: check.problem === null ? text : `Not run: ${check.problem}.` }
  }
  const needsLook = SEVEREST_FIRST.flatMap((outcome) => checks.filter((check) => check.outcome === outcome))
  const passed = checks.filter(({ outcome }) => outcome === 'passed').map((check) => describe(check).label)
  return (
    <Card title="Checks" text="Run by the service. Checks don’t decide sessions.">
      {waiting && <p class="soft">Checks are running.</p>}
      {needsLook.length > 0 && (
        <Table
          caption="Checks that need review"
          rows={needsLook}
          rowKey={({ check }) => check}
          columns={{
            Check: (check) => describe(check).label,
            Outcome: {
              cell: ({ outcome }) => <Badge tone={OUTCOME_TONES[outcome]}>{OUTCOME_WORDS[outcome]}</Badge>,
              narrow: true,
            },
            Why: (check) => (
              <>
                {describe(check).text}
                {check.sessions.map((id) => (
                  <span key={id}>
                    {' '}
                    <a href={pathTo(`/reviews/${id}`)}>Session {id.slice(-8)}</a>
                  </span>
                ))}
              </>
            ),
          }}
        />
      )}
      {passed.length > 0 && <p class="soft">Passed: {passed.join(', ')}.</p>}
      {value.address_country !== null && <p class="soft">Submitted from {countryWord(value.address_country)}.</p>}
      {parts.map(({ Comparison }, index) => Comparison && <Comparison key={index} session={session} checks={checks} />)}
    </Card>
  )
}
