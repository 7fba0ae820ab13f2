// Making a revision the one that decides, or an earlier one again: what changes by it, and who is decided for.
import { call } from '../api/client.ts'
import type { Policy, Revision } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { useQuery } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'
import { ConfirmDialog } from '../ui/dialog.tsx'
import { Loading } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { say } from '../ui/toast.tsx'
import { Differences } from './differences.tsx'

interface MakeLiveProps {
  readonly policy: Policy
  readonly revision: Revision
  /** The one that decides now, where its number is known. */
  readonly active: Revision | null
  readonly onClose: () => void
  readonly onDone: () => void
}

export const MakeLive = ({ policy, revision, active, onClose, onDone }: MakeLiveProps) => {
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
  const whom =
    policy.decides === 'sessions'
      ? 'the sessions of this organization, where its settings choose this policy'
      : 'every project that names this policy'
  const isRollback = active !== null && active.number > revision.number
  const action = useAction(async () => {
    await call('POST /organizations/{organization}/policies/{policy}/activate', {
      params: { ...params, policy: policy.id },
      body: { revision_id: revision.id, version: policy.version },
    })
    say(`Revision ${revision.number} is live`)
    onDone()
    onClose()
  })
  return (
    <ConfirmDialog
      title={isRollback ? `Go back to revision ${revision.number}?` : `Make revision ${revision.number} live?`}
      confirmLabel={isRollback ? 'Go back to it' : 'Make it live'}
      danger={false}
      action={action}
      onClose={onClose}
    >
      {from === null ? (
        <p>It decides for {whom}, within a second. None of its revisions did before.</p>
      ) : (
        <p>
          Within a second it decides in place of {active === null ? 'the present one' : `revision ${active.number}`},
          for {whom}.{' '}
          {policy.decides === 'sessions'
            ? 'Any revision can be made live again once it was tried.'
            : 'Any revision can be made live again at any time.'}
        </p>
      )}
      {from !== null && (
        <div class="dialog-differences">
          {differences.loading && <Loading />}
          <Problem error={differences.error} retry={differences.reload} />
          {differences.value !== null && <Differences differences={differences.value.differences} />}
        </div>
      )}
    </ConfirmDialog>
  )
}
