// Checks of a session, run and described by modules. Checks decide nothing.
import type { AnswerOf } from '../api/client.ts'
import type { SessionCheck, SessionDetail } from '../api/types.ts'
import { type Query, useRead } from '../data/use-query.ts'
import type { CheckDescription, ReviewParts } from '../module-pages.ts'
import { useWorkplace } from '../shell/session.ts'
import { shortId } from '../ui/copy.tsx'
import { Badge, Card } from '../ui/parts.tsx'
import { Problem, type Tone } from '../ui/problem.tsx'
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

type Checks = AnswerOf<'GET /organizations/{organization}/sessions/{session}/checks/documents'>

/** @param decidedHits number of hits decided on this page; checks depend on it */
export const useChecks = (session: SessionDetail, decidedHits: number): Query<Checks> => {
  const { params } = useWorkplace()
  const checks = useRead(
    'GET /organizations/{organization}/sessions/{session}/checks/documents',
    { params: { ...params, session: session.id } },
    [session.sequence, decidedHits],
  )
  useInterval(LOOK_AGAIN_MS, () => {
    if (checks.value?.waiting === true) checks.reload()
  })
  return checks
}

interface SessionChecksProps {
  readonly query: Query<Checks>
  readonly parts: readonly ReviewParts[]
}

export const SessionChecks = ({ query: { value, error, reload }, parts }: SessionChecksProps) => {
  const { path: pathTo } = useWorkplace()
  if (value === null) return <Problem error={error} retry={reload} />
  const { checks, waiting } = value
  if (checks.length === 0 && !waiting) return null
  const describe = (check: SessionCheck): CheckDescription => {
    const found = parts.map(({ describeCheck }) => describeCheck?.(check) ?? null).find((each) => each !== null)
    const { label, text } = found ?? { label: check.check, text: '' }
    return { label, text: check.problem === null ? text : `Not run: ${check.problem}.` }
  }
  const needsLook = SEVEREST_FIRST.flatMap((outcome) => checks.filter((check) => check.outcome === outcome))
  const passed = checks.filter(({ outcome }) => outcome === 'passed').map((check) => describe(check).label)
  return (
    <Card title="Checks" text="Automatic checks. They don’t decide the session.">
      {waiting && <p class="soft">Checks are running.</p>}
      {needsLook.length > 0 && (
        <ul class="checks" aria-label="Checks that need review">
          {needsLook.map((check) => {
            const { label, text } = describe(check)
            return (
              <li key={check.check}>
                <Badge tone={OUTCOME_TONES[check.outcome]}>{OUTCOME_WORDS[check.outcome]}</Badge>{' '}
                <strong>{label}</strong>
                <p class="soft">
                  {text}
                  {check.sessions.map((id) => (
                    <span key={id}>
                      {' '}
                      <a href={pathTo(`/reviews/${id}`)}>Session {shortId(id)}</a>
                    </span>
                  ))}
                </p>
              </li>
            )
          })}
        </ul>
      )}
      {passed.length > 0 && <p class="soft">Passed: {passed.join(', ')}.</p>}
      {value.address_country !== null && <p class="soft">Submitted from {countryWord(value.address_country)}.</p>}
    </Card>
  )
}
