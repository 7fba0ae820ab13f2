// Assigns or sends back the selected sessions, except those changed since they were read.
import { useState } from 'preact/hooks'
import { counted } from '../../../lib/counted.ts'
import { call } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import type { Session } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { useWorkplace } from '../shell/session.ts'
import { ActionButton, action } from '../ui/actions.tsx'
import { Button } from '../ui/button.tsx'
import { shortId } from '../ui/copy.tsx'
import { Menu } from '../ui/menu.tsx'
import { Problem } from '../ui/problem.tsx'
import type { Columns } from '../ui/table.tsx'
import { say } from '../ui/toast.tsx'
import type { Reviewers } from './members.ts'

interface Bulk {
  readonly column: Columns<Session>
  readonly bar: preact.ComponentChildren
}

export const useBulk = (sessions: readonly Session[], reviewers: Reviewers, onDone: () => void): Bulk => {
  const { params } = useWorkplace()
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const selected = sessions.filter(({ id }) => ids.has(id))
  const inEach = async (verb: string, change: (session: Session) => Promise<unknown>): Promise<void> => {
    let left = 0
    try {
      for (const session of selected) {
        try {
          await change(session)
        } catch (error) {
          if (!(error instanceof ApiError && error.status === 409)) throw error
          left++
        }
      }
    } finally {
      // Runs after an error too, because some sessions may have changed.
      setIds(new Set())
      onDone()
    }
    const done = counted(selected.length - left, 'session', 'sessions')
    say(`${verb} ${done}${left === 0 ? '' : `; ${counted(left, 'other has', 'others have')} changed`}`)
  }
  const assign = useAction((userId: string) =>
    inEach('Assigned', ({ id, assignment_version: version }) =>
      call('PUT /organizations/{organization}/sessions/{session}/assignment', {
        params: { ...params, session: id },
        body: { user_id: userId, version },
      }),
    ),
  )
  const sendBack = action({
    label: 'Send back',
    title: `Send back ${counted(selected.length, 'session', 'sessions')}?`,
    text: 'Each person can change everything and submit the session again.',
    fields: { message: { label: 'Message to each person', rows: 3, maxLength: 1_000 } },
    run: ({ message }) =>
      inEach('Sent back', ({ id, sequence }) =>
        call('POST /organizations/{organization}/sessions/{session}/decide', {
          params: { ...params, session: id },
          body: { status: 'retry', sequence, public_comment: message.replaceAll(/\s+/g, ' ') },
        }),
      ),
  })
  return {
    column: {
      '': ({ id }) => (
        <input
          type="checkbox"
          aria-label={`Select session ${shortId(id)}`}
          checked={ids.has(id)}
          onChange={({ currentTarget: { checked } }) =>
            setIds((before) => new Set(checked ? [...before, id] : [...before].filter((other) => other !== id)))
          }
        />
      ),
    },
    bar: selected.length > 0 && (
      <div class="bulk" role="toolbar" aria-label="Selected sessions">
        <strong>{selected.length} selected</strong>
        <Menu
          face="Assign to…"
          faceClass="button button-secondary button-small"
          items={reviewers.all.map(({ id, name }) => ({ label: name, onSelect: () => assign.run(id) }))}
        />
        {selected.every(({ status }) => status === 'submitted') && <ActionButton small action={sendBack} />}
        <Button small kind="quiet" onClick={() => setIds(new Set(sessions.map(({ id }) => id)))}>
          Select all shown
        </Button>
        <Button small kind="quiet" onClick={() => setIds(new Set())}>
          Clear
        </Button>
        <Problem error={assign.failure} />
      </div>
    ),
  }
}
