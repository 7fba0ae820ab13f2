// If another reviewer was faster, the page reports this and shows the assignee.

import { call } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import type { SessionDetail } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { useWorkplace } from '../shell/session.ts'
import { useShortcut } from '../shell/shortcuts.ts'
import { Button } from '../ui/button.tsx'
import { Menu } from '../ui/menu.tsx'
import { Key } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { say } from '../ui/toast.tsx'
import { useOwnId, useReviewers } from './members.ts'

interface AssignmentProps {
  readonly session: SessionDetail
  readonly onChanged: (session: SessionDetail) => void
  /** Called if another reviewer was faster; the session must be read again. */
  readonly onMoved: () => void
}

export const Assignment = ({ session, onChanged, onMoved }: AssignmentProps) => {
  const { params } = useWorkplace()
  const ownId = useOwnId()
  const { all, nameOf } = useReviewers()
  const { assigned_to: assigned } = session
  const give = useAction(async (userId: string | null) => {
    try {
      const answer = await call('PUT /organizations/{organization}/sessions/{session}/assignment', {
        params: { ...params, session: session.id },
        body: { user_id: userId, version: session.assignment_version },
      })
      onChanged({ ...session, ...answer })
      say(userId === null ? 'Returned to the queue' : userId === ownId ? 'Assigned to you' : 'Reassigned')
    } catch (error) {
      if (error instanceof ApiError && error.status === 409) onMoved()
      throw error
    }
  })
  useShortcut('t', 'Assign to me', () => {
    if (assigned !== ownId) give.run(ownId)
  })
  const others = all.filter(({ id }) => id !== ownId && id !== assigned)
  return (
    <div class="assignment">
      <p>
        <span class="soft">Reviewer</span>{' '}
        {assigned === null ? <span>Unassigned</span> : <strong>{nameOf(assigned)}</strong>}
      </p>
      <div class="assignment-actions">
        {assigned === ownId ? (
          <Button small busy={give.busy} onClick={() => give.run(null)}>
            Return to queue
          </Button>
        ) : (
          <Button small busy={give.busy} onClick={() => give.run(ownId)}>
            {assigned === null ? 'Assign to me' : 'Take over'} <Key>t</Key>
          </Button>
        )}
        {others.length > 0 && (
          <Menu
            face="Assign to…"
            faceClass="button button-quiet button-small"
            side="end"
            items={others.map(({ id, name }) => ({ label: name, onSelect: () => give.run(id) }))}
          />
        )}
      </div>
      <Problem error={give.failure} />
    </div>
  )
}
