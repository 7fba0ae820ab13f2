// Changes that wait for a second person: someone other than who asked looks at them, and lets them pass or not. Below them,
// the changes for which the rule was overridden at the command line.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { Approval, AuditEntry } from '../api/types.ts'
import { Overridden } from '../audit/overridden.tsx'
import { useAction } from '../data/use-action.ts'
import { type Pages, usePages } from '../data/use-pages.ts'
import { useSession, useWorkplace } from '../shell/session.ts'
import { readWaitingAgain } from '../shell/waiting.ts'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/dialog.tsx'
import { Card, Empty, Loading, Page } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { say } from '../ui/toast.tsx'
import { ApprovalCard, SeenChanges } from './approval.tsx'
import { ACTIONS } from './words.ts'

interface Asked {
  readonly approval: Approval
  readonly approve: boolean
}

interface ApprovalsOfProps {
  readonly lead: string
  readonly pages: Pages<Approval>
  /** Null: not for this account to see. */
  readonly overrides: Pages<AuditEntry> | null
  readonly decide: (approval: Approval, approve: boolean) => Promise<unknown>
  readonly mayDecide: boolean
}

const Overrides = ({ pages }: { readonly pages: Pages<AuditEntry> }) => {
  if (pages.items === null || pages.items.length === 0) return <Problem error={pages.error} retry={pages.reload} />
  return (
    <Card
      title="Done without a second person"
      text="At the command line, where whoever runs the machine can override it."
    >
      <ul class="approval-overrides">
        {pages.items.map((entry) => (
          <li key={entry.sequence}>
            <Overridden detail={entry.detail} /> <strong>{entry.action}</strong> {entry.subject} by {entry.actor_name}{' '}
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

const ApprovalsOf = ({ lead, pages, overrides, decide, mayDecide }: ApprovalsOfProps) => {
  const { account } = useSession()
  const [asked, setAsked] = useState<Asked | null>(null)
  const action = useAction(async () => {
    if (asked === null) return
    await decide(asked.approval, asked.approve)
    say(asked.approve ? 'Approved and done' : 'Rejected')
    setAsked(null)
    pages.reload()
    readWaitingAgain()
  })
  const isOwn = ({ requested_by: by }: Approval): boolean => account.id === by || account.id === `user:${by}`
  const { items, error, loading, more, loadMore, reload } = pages
  return (
    <Page title="Approvals" lead={lead}>
      <Problem error={error} retry={reload} />
      {items === null && error === null && <Loading />}
      {items?.length === 0 && (
        <Card>
          <Empty icon="approve" title="Nothing waits">
            <p>
              Where a second person is asked for, changes wait here until someone other than who asked approves them.
              They lapse after a week.
            </p>
          </Empty>
        </Card>
      )}
      {(items ?? []).map((approval) => (
        <ApprovalCard key={approval.id} approval={approval} own={isOwn(approval)}>
          {mayDecide && approval.state === 'pending' && (
            <div class="form-actions">
              {!isOwn(approval) && (
                <Button small icon="check" onClick={() => setAsked({ approval, approve: true })}>
                  Approve
                </Button>
              )}
              <Button small onClick={() => setAsked({ approval, approve: false })}>
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
          title={asked.approve ? 'Approve this change?' : 'Reject this change?'}
          confirmLabel={asked.approve ? 'Approve it' : 'Reject it'}
          danger={!asked.approve}
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
          {asked.approve && <p>It is done at once.</p>}
        </ConfirmDialog>
      )}
    </Page>
  )
}

export const Approvals = () => {
  const { params, may } = useWorkplace()
  const isAdmin = may('organization-admin')
  const pages = usePages(
    (cursor, signal) => call('GET /organizations/{organization}/approvals', { params, query: { cursor }, signal }),
    [params.organization],
  )
  const overrides = usePages(
    async (cursor, signal) =>
      isAdmin
        ? call('GET /organizations/{organization}/audit', { params, query: { cursor, overridden: true }, signal })
        : { data: [], next_cursor: null },
    [params.organization, isAdmin],
  )
  return (
    <ApprovalsOf
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
  const pages = usePages((cursor, signal) => call('GET /approvals', { query: { cursor }, signal }), [])
  const overrides = usePages(
    (cursor, signal) => call('GET /audit', { query: { cursor, overridden: true }, signal }),
    [],
  )
  return (
    <ApprovalsOf
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
