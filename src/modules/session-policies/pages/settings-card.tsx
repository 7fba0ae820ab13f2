import { useState } from 'preact/hooks'
import { type AnswerOf, call } from '../../../dashboard/page/api/client.ts'
import type { Policy } from '../../../dashboard/page/api/types.ts'
import { useAction } from '../../../dashboard/page/data/use-action.ts'
import { useRead } from '../../../dashboard/page/data/use-query.ts'
import type { SettingsCardProps } from '../../../dashboard/page/module-pages.ts'
import { usePolicies } from '../../../dashboard/page/projects/policies.ts'
import { useWorkplace } from '../../../dashboard/page/shell/session.ts'
import { Button, ButtonLink } from '../../../dashboard/page/ui/button.tsx'
import { SelectField } from '../../../dashboard/page/ui/field.tsx'
import { Loaded } from '../../../dashboard/page/ui/loaded.tsx'
import { Card } from '../../../dashboard/page/ui/parts.tsx'
import { Notice, Problem } from '../../../dashboard/page/ui/problem.tsx'
import { say } from '../../../dashboard/page/ui/toast.tsx'
import { TaskCard } from '../../policy-lab/pages/replay.tsx'

type SessionPolicy = AnswerOf<'GET /organizations/{organization}/session-policy'>

const Current = ({ current }: { readonly current: SessionPolicy }) => {
  const { path } = useWorkplace()
  if (current.policy_id === null) return <p>Reviewers decide every session.</p>
  const link = <a href={path(`/policies/${current.policy_id}`)}>{current.name}</a>
  return current.revision === null ? (
    <p>
      Reviewers decide every session, because no revision of {link} is live. Outcomes of its shadow revision are
      recorded.
    </p>
  ) : (
    <p>
      {link}, revision {current.revision}, decides sessions once their checks are complete. Sessions that it neither
      allows nor denies wait for a reviewer.
    </p>
  )
}

interface SwitchProps {
  readonly policies: readonly Policy[]
  readonly onChange: (current: SessionPolicy) => void
}

const SwitchOn = ({ policies, onChange }: SwitchProps) => {
  const { params, path } = useWorkplace()
  const [chosen, setChosen] = useState('')
  const [task, setTask] = useState<string | null>(null)
  const policy = policies.find(({ id }) => id === chosen) ?? policies[0]
  const change = useAction(async () => {
    if (policy === undefined) return
    onChange(await call('PUT /organizations/{organization}/session-policy', { params, body: { policy_id: policy.id } }))
    say('Automatic decisions turned on')
  })
  const trial = useAction(async () => {
    if (policy?.active_revision_id == null) return
    const { id } = await call('POST /organizations/{organization}/policies/{policy}/replay', {
      params: { ...params, policy: policy.id },
      body: { revision_id: policy.active_revision_id },
    })
    setTask(id)
    change.clear()
  })
  if (policy === undefined) {
    return (
      <Notice
        tone="info"
        title="No session policy yet"
        actions={
          <ButtonLink small href={path('/policies/new')}>
            Create policy
          </ButtonLink>
        }
      >
        <p>Start from the template “Automatic identity decisions”.</p>
      </Notice>
    )
  }
  const isLive = policy.active_revision_id !== null
  return (
    <>
      <div class="filters">
        <SelectField
          label="Policy"
          value={policy.id}
          onValue={(value) => {
            setChosen(value)
            setTask(null)
          }}
          choices={policies.map(({ id, name }) => ({ value: id, label: name }))}
        />
        {isLive && (
          <Button busy={trial.busy} icon="play" onClick={() => trial.run()}>
            Try it on past sessions
          </Button>
        )}
        <Button kind="primary" busy={change.busy} onClick={() => change.run()}>
          {isLive ? 'Turn on' : 'Record shadow outcomes'}
        </Button>
      </div>
      {isLive && (
        <p class="soft">To turn it on, try this revision on past sessions first. A trial is valid for 30 days.</p>
      )}
      <Problem error={trial.failure ?? change.failure} />
      {task !== null && <TaskCard key={task} id={task} />}
    </>
  )
}

export const SessionPolicyCard = ({ mayChange }: SettingsCardProps) => {
  const { params } = useWorkplace()
  const current = useRead('GET /organizations/{organization}/session-policy', { params })
  const { ofSessions } = usePolicies()
  const off = useAction(async () => {
    current.set(await call('PUT /organizations/{organization}/session-policy', { params, body: { policy_id: null } }))
    say('Automatic decisions turned off')
  })
  return (
    <Card
      id="session-policy"
      title="Automatic decisions"
      text="A policy can decide sessions based on their checks. It never completes a session with an open or confirmed hit."
      actions={
        mayChange &&
        current.value?.policy_id != null && (
          <Button busy={off.busy} onClick={() => off.run()}>
            Turn off
          </Button>
        )
      }
    >
      <Problem error={off.failure} />
      <Loaded query={current}>
        {(value) => (
          <>
            <Current current={value} />
            {mayChange && value.policy_id === null && ofSessions !== null && (
              <SwitchOn policies={ofSessions} onChange={current.set} />
            )}
          </>
        )}
      </Loaded>
    </Card>
  )
}
