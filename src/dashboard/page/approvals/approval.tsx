// One change that needs or needed approval: subject, values before and after, and reason.
import type { ComponentChildren } from 'preact'
import type { Approval } from '../api/types.ts'
import { Differences } from '../policies/differences.tsx'
import { Badge } from '../ui/parts.tsx'
import { Time } from '../ui/time.tsx'
import { ACTIONS } from './labels.ts'

const STATES = {
  pending: <Badge tone="warn">Waiting</Badge>,
  approved: <Badge tone="good">Approved</Badge>,
  rejected: <Badge tone="bad">Rejected</Badge>,
  expired: <Badge>Expired</Badge>,
} as const

const CHANGES_SHOWN = 50

const Value = ({ sign, text }: { readonly sign: 'removed' | 'added'; readonly text: string | null }) =>
  text === null ? null : (
    <span class={`difference-value difference-${sign}`}>
      <span class="sr-only">{sign === 'removed' ? 'before: ' : 'after: '}</span>
      {text}
    </span>
  )

const Changes = ({ changes }: Pick<Approval, 'changes'>) => (
  <dl class="approval-changes">
    {changes.map(({ what, before, after }) => (
      <div key={what}>
        <dt>{what}</dt>
        <dd>
          {before === after ? (
            before
          ) : (
            <>
              <Value sign="removed" text={before} />
              <Value sign="added" text={after} />
            </>
          )}
        </dd>
      </div>
    ))}
  </dl>
)

export const SeenChanges = ({ approval }: { readonly approval: Approval }) => {
  const { changes, differences, effects, comment } = approval
  return (
    <div class="approval-seen">
      <Changes changes={changes.slice(0, CHANGES_SHOWN)} />
      {changes.length > CHANGES_SHOWN && (
        <details class="proof">
          <summary>And {changes.length - CHANGES_SHOWN} more</summary>
          <Changes changes={changes.slice(CHANGES_SHOWN)} />
        </details>
      )}
      {differences !== null && <Differences differences={differences} />}
      {effects.map((effect) => (
        <p key={effect} class="soft">
          {effect}
        </p>
      ))}
      {comment !== '' && <blockquote class="approval-comment">{comment}</blockquote>}
    </div>
  )
}

/** Returns a text with the email address first, because people choose their own names. */
const personText = (email: string, name: string): string => (name === email ? email : `${email} (${name})`)

export const requesterOf = ({ requested_by_email: email, requested_by_name: name }: Approval): string =>
  personText(email, name)

const deciderOf = ({ decided_by_email: email, decided_by_name: name }: Approval): string =>
  personText(email ?? '', name ?? '')

interface ApprovalCardProps {
  readonly approval: Approval
  readonly own: boolean
  readonly children: ComponentChildren
}

export const ApprovalCard = ({ approval, own, children }: ApprovalCardProps) => {
  const { action, name, state } = approval
  return (
    <article class={state === 'pending' ? 'card approval' : 'card approval approval-past'} aria-label={ACTIONS[action]}>
      <header class="approval-head">
        <h2>
          {ACTIONS[action]}: {name}
        </h2>
        {STATES[state]}
      </header>
      <p class="soft">
        Requested by {requesterOf(approval)} {own && <Badge>You</Badge>} <Time at={approval.created_at} />
        {approval.decided_by !== null && (
          <>
            , {state} by {deciderOf(approval)} {approval.decided_at !== null && <Time at={approval.decided_at} />}
          </>
        )}
      </p>
      <SeenChanges approval={approval} />
      {children}
    </article>
  )
}
