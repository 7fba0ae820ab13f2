// Changes that wait for a second person: someone other than who asked looks at them, and lets them pass or not.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { Approval } from '../api/types.ts'
import { describeDetail } from '../audit/detail.ts'
import { useAction } from '../data/use-action.ts'
import { type Pages, usePages } from '../data/use-pages.ts'
import { useSession, useWorkplace } from '../shell/session.ts'
import { readWaitingAgain } from '../shell/waiting.ts'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/dialog.tsx'
import { Badge, Card, Empty, Page } from '../ui/parts.tsx'
import { PagedTable } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { say } from '../ui/toast.tsx'

const ACTIONS: Readonly<Record<Approval['action'], string>> = {
  'policy.activate': 'Make a policy’s revision live',
  'settings.second-person-off': 'Ask for no second person any more',
  'attester.add': 'Use a new attester key',
  'attester.retire': 'Retire an attester key',
}

const STATES = {
  pending: <Badge tone="warn">Waiting</Badge>,
  approved: <Badge tone="good">Approved</Badge>,
  rejected: <Badge tone="bad">Rejected</Badge>,
  expired: <Badge>Expired</Badge>,
} as const

interface ApprovalsOfProps {
  readonly lead: string
  readonly pages: Pages<Approval>
  readonly decide: (approval: Approval, approve: boolean) => Promise<unknown>
  readonly mayDecide: boolean
}

const ApprovalsOf = ({ lead, pages, decide, mayDecide }: ApprovalsOfProps) => {
  const { account } = useSession()
  const [asked, setAsked] = useState<{ readonly approval: Approval; readonly approve: boolean } | null>(null)
  const action = useAction(async () => {
    if (asked === null) return
    await decide(asked.approval, asked.approve)
    say(asked.approve ? 'Approved and done' : 'Rejected')
    setAsked(null)
    pages.reload()
    readWaitingAgain()
  })
  const isOwn = ({ requested_by: by }: Approval): boolean => account.id === by || account.id === `user:${by}`
  return (
    <Page title="Approvals" lead={lead}>
      <Card flush>
        <PagedTable<Approval>
          caption="Changes that wait or waited"
          pages={pages}
          rowKey={({ id }) => id}
          dimmed={({ state }) => state !== 'pending'}
          columns={[
            {
              label: 'Change',
              cell: (approval) => (
                <span class="cell-stack">
                  <strong>{ACTIONS[approval.action]}</strong>
                  <span class="faint">{describeDetail(approval.detail)}</span>
                </span>
              ),
            },
            {
              label: 'Asked by',
              cell: (approval) => (
                <>
                  {approval.requested_by_name} {isOwn(approval) && <Badge>You</Badge>}
                </>
              ),
            },
            { label: 'State', narrow: true, cell: ({ state }) => STATES[state] },
            { label: 'Decided by', cell: ({ decided_by_name: name }) => name },
            {
              label: 'When',
              narrow: true,
              cell: ({ created_at: created, decided_at: decided }) => <Time at={decided ?? created} />,
            },
            {
              label: '',
              align: 'end',
              narrow: true,
              cell: (approval) =>
                mayDecide &&
                approval.state === 'pending' && (
                  <span class="button-pair">
                    {!isOwn(approval) && (
                      <Button small icon="check" onClick={() => setAsked({ approval, approve: true })}>
                        Approve
                      </Button>
                    )}
                    <Button small onClick={() => setAsked({ approval, approve: false })}>
                      {isOwn(approval) ? 'Take back' : 'Reject'}
                    </Button>
                  </span>
                ),
            },
          ]}
          empty={
            <Empty icon="approve" title="Nothing waits">
              <p>
                Where a second person is asked for, changes wait here until someone other than who asked approves them.
                They lapse after a week.
              </p>
            </Empty>
          }
        />
      </Card>
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
            <strong>{ACTIONS[asked.approval.action]}</strong>, asked for by {asked.approval.requested_by_name}.
          </p>
          <p>
            <code>{asked.approval.subject}</code> {describeDetail(asked.approval.detail)}
          </p>
          {asked.approve && <p>It is done at once.</p>}
        </ConfirmDialog>
      )}
    </Page>
  )
}

export const Approvals = () => {
  const { params, may } = useWorkplace()
  const pages = usePages(
    (cursor, signal) => call('GET /organizations/{organization}/approvals', { params, query: { cursor }, signal }),
    [params.organization],
  )
  return (
    <ApprovalsOf
      lead="Changes of this organization that need a second person."
      pages={pages}
      mayDecide={may('organization-admin')}
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
  return (
    <ApprovalsOf
      lead="Changes of attester keys, and of the rule itself, that need a second deployment admin."
      pages={pages}
      mayDecide
      decide={({ id }, approve) =>
        call('POST /approvals/{approval}/decide', { params: { approval: id }, body: { approve } })
      }
    />
  )
}
