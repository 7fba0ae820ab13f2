import { call } from '../api/client.ts'
import type { Policy, Revision } from '../api/types.ts'
import { useQuery, useRead } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'
import type { Action } from '../ui/actions.tsx'
import { Loading } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'
import { Differences } from './differences.tsx'

interface MakeLiveProps {
  readonly policy: Policy
  readonly revision: Revision
  readonly active: Revision | null
  /** Whether revisions can be replayed and run in shadow mode. */
  readonly isTriable: boolean
}

const Consequences = ({ policy, revision, active, isTriable }: MakeLiveProps) => {
  const { params } = useWorkplace()
  const from = policy.active_revision_id
  const differences = useQuery(
    async (signal) =>
      from === null
        ? null
        : await call('GET /organizations/{organization}/policies/{policy}/diff', {
            params: { ...params, policy: policy.id },
            query: { from, to: revision.id },
            signal,
          }),
    [from, revision.id],
  )
  const ofSessions = policy.decides === 'sessions'
  const scope = ofSessions ? 'sessions, if the settings select this policy' : 'all projects with this policy'
  if (from === null) return <p>Within a second, this revision decides on {scope}.</p>
  return (
    <>
      <p>
        Within a second, this revision replaces {active === null ? 'the active one' : `revision ${active.number}`} and
        decides on {scope}.{' '}
        {ofSessions ? 'You can make any revision live again.' : 'You can make any revision live again at any time.'}
      </p>
      <div class="dialog-differences">
        {differences.loading && <Loading />}
        <Problem error={differences.error} retry={differences.reload} />
        {differences.value !== null && <Differences differences={differences.value.differences} />}
      </div>
      {isTriable && <Effects policy={policy} revision={revision} />}
    </>
  )
}

const Effects = ({ policy, revision }: Pick<MakeLiveProps, 'policy' | 'revision'>) => {
  const { params } = useWorkplace()
  const { value, error, reload } = useRead(
    'GET /organizations/{organization}/policies/{policy}/revisions/{revision}/effects',
    { params: { ...params, policy: policy.id, revision: revision.id } },
  )
  if (value === null) return <Problem error={error} retry={reload} />
  if (value.effects.length === 0) {
    return (
      <Notice tone="warn" title="Not tried yet">
        <p>Replay this revision or run it in shadow mode to see which decisions would change.</p>
      </Notice>
    )
  }
  return (
    <Notice tone="info" title="Results before going live">
      {value.effects.map((effect) => (
        <p key={effect}>{effect}</p>
      ))}
    </Notice>
  )
}

export const makeLive = (params: { readonly organization: string }, props: MakeLiveProps): Action => {
  const { policy, revision, active } = props
  const isRollback = active !== null && active.number > revision.number
  return {
    label: isRollback ? 'Roll back' : 'Make live',
    icon: 'check',
    title: isRollback ? `Roll back to revision ${revision.number}?` : `Make revision ${revision.number} live?`,
    text: <Consequences {...props} />,
    run: () =>
      call('POST /organizations/{organization}/policies/{policy}/activate', {
        params: { ...params, policy: policy.id },
        body: { revision_id: revision.id, version: policy.version },
      }),
    done: `Revision ${revision.number} is live`,
  }
}
