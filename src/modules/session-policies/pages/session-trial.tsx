// Simulates a session policy on one session. Each access to the facts is recorded.
import { useEffect, useRef, useState } from 'preact/hooks'
import { type AnswerOf, call } from '../../../dashboard/page/api/client.ts'
import type { Revision, Session } from '../../../dashboard/page/api/types.ts'
import { useForm } from '../../../dashboard/page/data/use-form.ts'
import { useRead } from '../../../dashboard/page/data/use-query.ts'
import { SubjectField, subjectOf } from '../../../dashboard/page/policies/subject-field.tsx'
import type { Draft } from '../../../dashboard/page/policies/use-draft.ts'
import { STATUS_WORDS, TYPE_WORDS } from '../../../dashboard/page/reviews/labels.ts'
import { useWorkplace } from '../../../dashboard/page/shell/session.ts'
import { Button } from '../../../dashboard/page/ui/button.tsx'
import { shortId } from '../../../dashboard/page/ui/copy.tsx'
import { SelectField, TextField } from '../../../dashboard/page/ui/field.tsx'
import { Card, Empty } from '../../../dashboard/page/ui/parts.tsx'
import { Notice, Problem } from '../../../dashboard/page/ui/problem.tsx'
import { absoluteTime } from '../../../dashboard/page/ui/relative-time.ts'
import { RulesTable } from '../../policy-lab/pages/trial-result.tsx'
import { FactTable } from './policy-decisions.tsx'

type SessionSimulation = AnswerOf<'POST /organizations/{organization}/sessions/{session}/simulate'>

const RECENT = 30
const OUTCOMES = {
  completed: { tone: 'good', title: 'Would be approved' },
  rejected: { tone: 'bad', title: 'Would be rejected' },
  review: { tone: 'info', title: 'Would be left to a reviewer' },
} as const

const labelOf = ({ id, status, type, submitted_at: at, created_at: made }: Session): string =>
  `${absoluteTime(at ?? made)}: ${STATUS_WORDS[status]}, ${TYPE_WORDS[type]}, ${shortId(id)}`

const Result = ({ result }: { readonly result: SessionSimulation }) => {
  const { outcome, rule, code, message, problem, rules, facts } = result
  return (
    <div class="trial-result">
      <Notice {...OUTCOMES[outcome]}>
        <p>
          {rule === null ? 'No rule decides' : `By rule ${rule}`}
          {code !== null && (
            <>
              , with the code <code>{code}</code>
            </>
          )}
          {problem !== null && `: ${problem}`}.
        </p>
        {message !== null && <p>“{message}”</p>}
      </Notice>
      <RulesTable rules={rules} ofSessions />
      <Card title="Current facts" flush>
        <FactTable facts={facts} caption="Session facts" />
      </Card>
    </div>
  )
}

interface SessionTrialProps {
  readonly revisions: readonly Revision[]
  readonly draft: Draft
}

export const SessionTrial = ({ revisions, draft }: SessionTrialProps) => {
  const { params, may } = useWorkplace()
  const [subject, setSubject] = useState('')
  const [result, setResult] = useState<SessionSimulation | null>(null)
  const place = useRef<HTMLDivElement>(null)
  // On narrow screens, the result is below the form.
  useEffect(() => {
    if (result !== null) place.current?.scrollIntoView({ block: 'nearest' })
  }, [result])
  const recent = useRead('GET /organizations/{organization}/sessions', {
    params,
    query: { limit: RECENT, order: 'newest' },
  })
  const form = useForm({
    initial: { session: '' },
    check: ({ session }): Record<string, string> =>
      session.trim() === '' ? { session: 'Choose a session, or enter its ID.' } : {},
    submit: async ({ session }): Promise<void> => {
      setResult(
        await call('POST /organizations/{organization}/sessions/{session}/simulate', {
          params: { ...params, session: session.trim() },
          body: subjectOf(subject, draft, revisions),
        }),
      )
    },
  })
  const sessions = recent.value?.data ?? []
  if (!may('reviewer'))
    return <p class="soft">Only reviewers can try policies on sessions, because their facts contain personal data.</p>
  return (
    <div class="trial">
      <Card
        title="Try it on a session"
        text="A trial doesn’t change the session. Each access to its facts is recorded."
      >
        <form {...form.attributes} class="form">
          <SubjectField value={subject} onValue={setSubject} revisions={revisions} draft={draft} />
          {sessions.length > 0 && (
            <SelectField
              label="Recent sessions"
              value={sessions.some(({ id }) => id === form.values.session) ? form.values.session : ''}
              onValue={(value) => form.set('session', value)}
              choices={[
                { value: '', label: 'Choose one' },
                ...sessions.map((session) => ({ value: session.id, label: labelOf(session) })),
              ]}
            />
          )}
          <TextField
            {...form.text('session')}
            label="Session ID"
            mono
            hint="Shown in the URL of the session’s review."
          />
          <div class="form-actions">
            <Button kind="primary" icon="play" submit busy={form.busy}>
              Try it
            </Button>
          </div>
          <Problem error={form.failure} />
        </form>
      </Card>
      <div ref={place} aria-live="polite">
        {result === null ? (
          <Card>
            <Empty icon="scale" title="Rule by rule">
              <p>See the result of each rule for this session, the decisive rule and the facts.</p>
            </Empty>
          </Card>
        ) : (
          <Result result={result} />
        )}
      </div>
    </div>
  )
}
