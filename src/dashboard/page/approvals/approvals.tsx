// Changes that need a second person’s approval, and changes that overrode the rule on the command line.
import { call } from '../api/client.ts'
import type { Approval, AuditEntry } from '../api/types.ts'
import { Overridden } from '../audit/overridden.tsx'
import { type Pages, useList, usePages } from '../data/use-pages.ts'
import { useSession, useWorkplace } from '../shell/session.ts'
import { readWaitingAgain } from '../shell/waiting.ts'
import { type Action, ActionButton } from '../ui/actions.tsx'
import { Button } from '../ui/button.tsx'
import { Card, Empty, Loading, Page } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { ApprovalCard, requesterOf, SeenChanges } from './approval.tsx'
import { ACTIONS } from './labels.ts'

const DECISIONS = {
  approve: { label: 'Approve', title: 'Approve this change?', done: 'Change approved' },
  reject: { label: 'Reject', title: 'Reject this change?', done: 'Change rejected' },
  withdraw: { label: 'Withdraw', title: 'Withdraw this change?', done: 'Change withdrawn' },
} as const

interface ApprovalsOfProps {
  readonly title: string
  readonly lead: string
  readonly pages: Pages<Approval>
  readonly overrides: Pages<AuditEntry> | null
  readonly decide: (approval: Approval, approve: boolean) => Promise<unknown>
  readonly mayDecide: boolean
}

const Overrides = ({ pages }: { readonly pages: Pages<AuditEntry> }) => {
  const { organizations } = useSession()
  if (pages.items === null || pages.items.length === 0) return <Problem error={pages.error} retry={pages.reload} />
  return (
    <Card title="Changes without approval" text="Overridden on the command line by someone with access to the server.">
      <ul class="approval-overrides">
        {pages.items.map((entry) => (
          <li key={entry.sequence}>
            <Overridden detail={entry.detail} /> <strong>{entry.action}</strong>{' '}
            {organizations.find(({ id }) => id === entry.subject)?.name ?? entry.subject} by {entry.actor_name}{' '}
            <Time at={entry.at} />
          </li>
        ))}
      </ul>
      {pages.more && (
        <Button small busy={pages.loading} onClick={pages.loadMore}>
          Show more
        </Button>
      )}
    </Card>
  )
}

const ApprovalsOf = ({ title, lead, pages, overrides, decide, mayDecide }: ApprovalsOfProps) => {
  const { account } = useSession()
  const decision = (approval: Approval, kind: keyof typeof DECISIONS): Action => ({
    ...DECISIONS[kind],
    ...(kind === 'approve' ? { icon: 'check' } : { danger: true }),
    submit: `${DECISIONS[kind].label} change`,
    text: (
      <>
        <p>
          <strong>
            {ACTIONS[approval.action]}: {approval.name}
          </strong>
          , requested by {requesterOf(approval)}.
        </p>
        <SeenChanges approval={approval} />
        {kind === 'approve' && <p>The change takes effect immediately.</p>}
      </>
    ),
    run: () => decide(approval, kind === 'approve'),
  })
  const onDone = (): void => {
    pages.reload()
    readWaitingAgain()
  }
  const isOwn = ({ requested_by: by }: Approval): boolean => account.id === by || account.id === `user:${by}`
  const { items, error, loading, more, loadMore, reload } = pages
  return (
    <Page title={title} lead={lead}>
      <Problem error={error} retry={reload} />
      {items === null && error === null && <Loading />}
      {items?.length === 0 && (
        <Card>
          <Empty icon="approve" title="No changes to approve">
            <p>
              If a second person is required, changes wait here until someone other than their author approves them.
              They expire after a week.
            </p>
          </Empty>
        </Card>
      )}
      {(items ?? []).map((approval) => (
        <ApprovalCard key={approval.id} approval={approval} own={isOwn(approval)}>
          {mayDecide && approval.state === 'pending' && (
            <div class="form-actions">
              {(isOwn(approval) ? (['withdraw'] as const) : (['approve', 'reject'] as const)).map((kind) => (
                <ActionButton key={kind} small action={decision(approval, kind)} onDone={onDone} />
              ))}
            </div>
          )}
        </ApprovalCard>
      ))}
      {more && (
        <p class="paged-more">
          <Button small busy={loading} onClick={loadMore}>
            Show more
          </Button>
        </p>
      )}
      {overrides !== null && <Overrides pages={overrides} />}
    </Page>
  )
}

export const Approvals = () => {
  const { params, may } = useWorkplace()
  const isAdmin = may('organization-admin')
  const pages = useList('GET /organizations/{organization}/approvals', { params })
  const overrides = usePages(
    async (cursor, signal) =>
      isAdmin
        ? call('GET /organizations/{organization}/audit', { params, query: { cursor, overridden: true }, signal })
        : { data: [], next_cursor: null },
    [params.organization, isAdmin],
  )
  return (
    <ApprovalsOf
      title="Approvals"
      lead="Changes in this organization that need a second person’s approval."
      pages={pages}
      overrides={isAdmin ? overrides : null}
      mayDecide={isAdmin}
      decide={({ id }, approve) =>
        call('POST /organizations/{organization}/approvals/{approval}/decide', {
          params: { ...params, approval: id },
          body: { approve },
        })
      }
    />
  )
}

export const DeploymentApprovals = () => {
  const pages = useList('GET /approvals')
  const overrides = useList('GET /audit', { query: { overridden: true } })
  return (
    <ApprovalsOf
      title="Deployment approvals"
      lead="Changes to attester keys, deployment admins, shared lists and this rule that need a second deployment admin’s approval."
      pages={pages}
      overrides={overrides}
      mayDecide
      decide={({ id }, approve) =>
        call('POST /approvals/{approval}/decide', { params: { approval: id }, body: { approve } })
      }
    />
  )
}
