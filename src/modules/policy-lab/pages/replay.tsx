import { useState } from 'preact/hooks'
import { call } from '../../../dashboard/page/api/client.ts'
import type { Policy, Revision, Task } from '../../../dashboard/page/api/types.ts'
import { useAction } from '../../../dashboard/page/data/use-action.ts'
import { useRead } from '../../../dashboard/page/data/use-query.ts'
import { useReadLater } from '../../../dashboard/page/data/use-read-later.ts'
import { SubjectField, subjectOf } from '../../../dashboard/page/policies/subject-field.tsx'
import type { Draft } from '../../../dashboard/page/policies/use-draft.ts'
import { useSearchParam } from '../../../dashboard/page/router.ts'
import { useWorkplace } from '../../../dashboard/page/shell/session.ts'
import { Button } from '../../../dashboard/page/ui/button.tsx'
import { SelectField } from '../../../dashboard/page/ui/field.tsx'
import { Badge, Card, Loading } from '../../../dashboard/page/ui/parts.tsx'
import { Notice, Problem } from '../../../dashboard/page/ui/problem.tsx'
import { ReplayResult } from './replay-result.tsx'

const POLL_MS = 500
const HOUR_MS = 3_600_000
const PERIODS = [
  { value: '1', label: 'Last hour' },
  { value: '24', label: 'Last 24 hours' },
  { value: '168', label: 'Last 7 days' },
  { value: '720', label: 'Last 30 days' },
  { value: '8760', label: 'Last year' },
] as const

const STATES = {
  queued: <Badge>Queued</Badge>,
  running: <Badge tone="info">Running</Badge>,
  done: <Badge tone="good">Done</Badge>,
  failed: <Badge tone="bad">Failed</Badge>,
  cancelled: <Badge>Stopped</Badge>,
} as const

const isOpen = ({ state }: Task): boolean => state === 'queued' || state === 'running'

export const TaskCard = ({ id }: { readonly id: string }) => {
  const { params, may } = useWorkplace()
  const path = { ...params, job: id }
  const task = useRead('GET /organizations/{organization}/jobs/{job}', { params: path })
  const { value, reload, set } = task
  useReadLater(value !== null && isOpen(value), value, POLL_MS, reload)
  const stop = useAction(async () => {
    set(await call('POST /organizations/{organization}/jobs/{job}/cancel', { params: path, body: {} }))
  })
  if (value === null) return task.error === null ? <Loading /> : <Problem error={task.error} retry={reload} />
  const { done, total } = value.progress
  const percent = total === 0 ? 0 : Math.floor((100 * done) / total)
  return (
    <Card
      title={<>Replay {STATES[value.state]}</>}
      actions={
        isOpen(value) &&
        may('organization-admin') && (
          <Button small busy={stop.busy} onClick={() => stop.run()}>
            Stop
          </Button>
        )
      }
    >
      <Problem error={task.error ?? stop.failure} />
      {isOpen(value) && (
        <div class="progress">
          <progress max={100} value={percent} aria-label="Replay progress" />
          <span class="soft">{total === 0 ? 'Reading…' : `${percent}%`}</span>
        </div>
      )}
      {value.failure !== null && (
        <Notice tone="bad" title="The replay failed">
          <p>{value.failure}</p>
        </Notice>
      )}
      {value.result !== null && <ReplayResult result={value.result} />}
    </Card>
  )
}

interface ReplayProps {
  readonly policy: Policy
  readonly revisions: readonly Revision[]
  readonly draft: Draft
}

export const Replay = ({ policy, revisions, draft }: ReplayProps) => {
  const { params, may } = useWorkplace()
  const [subject, setSubject] = useState('')
  const [hours, setHours] = useState(policy.decides === 'sessions' ? '8760' : '168')
  const [task, setTask] = useSearchParam('job')
  const start = useAction(async () => {
    const { id } = await call('POST /organizations/{organization}/policies/{policy}/replay', {
      params: { ...params, policy: policy.id },
      body: {
        ...subjectOf(subject, draft, revisions),
        since: new Date(Date.now() - Number(hours) * HOUR_MS).toISOString(),
      },
    })
    setTask(id)
  })
  return (
    <>
      <Card
        title="Replay"
        text={`Evaluates a document on ${policy.decides === 'sessions' ? 'the newest sessions that reviewers decided' : 'the recorded decisions of this policy'} in the background, and reports the differences. Recorded decisions don’t change.`}
      >
        {may('organization-admin') ? (
          <div class="filters">
            <SubjectField value={subject} onValue={setSubject} revisions={revisions} draft={draft} />
            <SelectField label="Period" value={hours} onValue={setHours} choices={PERIODS} />
            <Button kind="primary" icon="play" busy={start.busy} onClick={() => start.run()}>
              Start replay
            </Button>
          </div>
        ) : (
          <p class="soft">Only organization admins can start replays. They can share a result by its URL.</p>
        )}
        <Problem error={start.failure} />
      </Card>
      {task !== '' && <TaskCard key={task} id={task} />}
    </>
  )
}
