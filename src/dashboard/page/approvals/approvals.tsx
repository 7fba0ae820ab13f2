// Changes that wait for a second person: someone other than who asked looks at them, and lets them pass or not. Below them,
// the changes for which the rule was overridden at the command line.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { Approval, AuditEntry } from '../api/types.ts'
import { Overridden } from '../audit/overridden.tsx'
import { useAction } from '../data/use-action.ts'
import { type Pages, useList, usePages } from '../data/use-pages.ts'
import { useSession, useWorkplace } from '../shell/session.ts'
import { readWaitingAgain } from '../shell/waiting.ts'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/dialog.tsx'
import { Card, Empty, Loading, Page } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { say } from '../ui/toast.tsx'
import { ApprovalCard, SeenChanges } from './approval.tsx'
import { ACTIONS } from './labels.ts'

/** What can be made of a change that waits: the question, its button, and what is said afterwards. */
const DEEDS = {
  approve: { title: 'Approve this change?', confirm: 'Approve it', done: 'Approved and done' },
  reject: { title: 'Reject this change?', confirm: 'Reject it', done: 'Rejected' },
  'take-back': { title: 'Take this change back?', confirm: 'Take it back', done: 'Taken back' },
} as const

interface Asked {
  readonly approval: Approval
  readonly dialogAction: keyof typeof DEEDS
}

interface ApprovalsOfProps {
  readonly title: string
  readonly lead: string
  readonly pages: Pages<Approval>
  /** Null: not for this account to see. */
  readonly overrides: Pages<AuditEntry> | null
  readonly decide: (approval: Approval, approve: boolean) => Promise<unknown>
  readonly mayDecide: boolean
}

const Overrides = ({ pages }: { readonly pages: Pages<AuditEntry> }) => {
  const { organizations } = useSession()
  if (pages.items === null || pages.items.length === 0) return <Problem error={pages.error} retry={pages.reload} />
  return (
    <Card
      title="Done without a second person"
      text="At the command line, where whoever runs the machine can override it."
    >
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
  const [asked, setAsked] = useState<Asked | null>(null)
  const action = useAction(async () => {
    if (asked === null) return
    await decide(asked.approval, asked.dialogAction === 'approve')
    say(DEEDS[asked.dialogAction].done)
    setAsked(null)
    pages.reload()
    readWaitingAgain()
  })
  const isOwn = ({ requested_by: by }: Approval): boolean => account.id === by || account.id === `user:${by}`
  const { items, error, loading, more, loadMore, reload } = pages
  return (
    <Page title={title} lead={lead}>
      <Problem error={error} retry={reload} />
      {items === null && error === null && <Loading />}
      {items?.length === 0 && (
        <Card>
          <Empty icon="approve" title="Nothing waits">
            <p>
              Where a second person is asked for, changes wait here until someone other than the person who asked
              approves them. They lapse after a week.
            </p>
          </Empty>
        </Card>
      )}
      {(items ?? []).map((approval) => (
        <ApprovalCard key={approval.id} approval={approval} own={isOwn(approval)}>
          {mayDecide && approval.state === 'pending' && (
            <div class="form-actions">
              {!isOwn(approval) && (
                <Button small icon="check" onClick={() => setAsked({ approval, dialogAction: 'approve' })}>
                  Approve
                </Button>
              )}
              <Button
                small
                onClick={() => setAsked({ approval, dialogAction: isOwn(approval) ? 'take-back' : 'reject' })}
              >
                {isOwn(approval) ? 'Take back' : 'Reject'}
              </Button>
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
      {asked !== null && (
        <ConfirmDialog
          title={DEEDS[asked.dialogAction].title}
          confirmLabel={DEEDS[asked.dialogAction].confirm}
          danger={asked.dialogAction !== 'approve'}
          action={action}
          onClose={() => {
            action.clear()
            setAsked(null)
          }}
        >
          <p>
            <strong>
              {ACTIONS[asked.approval.action]}: {asked.approval.name}
            </strong>
            , asked for by {asked.approval.requested_by_name}.
          </p>
          <SeenChanges approval={asked.approval} />
          {asked.dialogAction === 'approve' && <p>It is done at once.</p>}
        </ConfirmDialog>
      )}
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
      lead="Changes of this organization that need a second person."
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
  const overrides = usePages(
    (cursor, signal) => call('GET /audit', { query: { cursor, overridden: true }, signal }),
    [],
  )
  return (
    <ApprovalsOf
      title="Deployment approvals"
      lead="Changes of attester keys, deployment admins and shared lists, and of the rule itself, that need a second deployment admin."
      pages={pages}
      overrides={overrides}
      mayDecide
      decide={({ id }, approve) =>
        call('POST /approvals/{approval}/decide', { params: { approval: id }, body: { approve } })
      }
    />
  )
}
