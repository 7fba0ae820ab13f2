import { counted } from '../../../lib/counted.ts'
import { call } from '../api/client.ts'
import type { UserSession } from '../api/types.ts'
import { useList } from '../data/use-pages.ts'
import { ActionButton, action } from '../ui/actions.tsx'
import { Badge } from '../ui/parts.tsx'
import { ResourceCard } from '../ui/resource.tsx'
import { time } from '../ui/table.tsx'
import { browserName } from './browser-name.ts'

const END_OTHERS = action({
  label: 'End all other sessions',
  run: () => call('DELETE /me/sessions'),
  done: ({ ended }) => counted(ended, 'session ended', 'sessions ended'),
})

export const Sessions = () => {
  const pages = useList('GET /me/sessions')
  return (
    <ResourceCard<UserSession>
      title="Sessions"
      text="A session expires after 2 hours of inactivity or 12 hours after sign-in."
      tools={(pages.items?.length ?? 0) > 1 && <ActionButton small action={END_OTHERS} onDone={pages.reload} />}
      pages={pages}
      rowKey={({ id }) => id}
      columns={{
        Browser: ({ user_agent: agent, current }) => (
          <>
            <span title={agent}>{browserName(agent)}</span> {current && <Badge tone="good">Current</Badge>}
          </>
        ),
        'IP address': ({ address }) => <code>{address}</code>,
        'Signed in': time('created_at'),
        'Last active': time('last_seen_at'),
        '': ({ id: session, current }) =>
          !current && (
            <ActionButton
              small
              action={{
                label: 'End session',
                run: () => call('DELETE /me/sessions/{session}', { params: { session } }),
                done: 'Session ended',
              }}
              onDone={pages.reload}
            />
          ),
      }}
      empty={['lock', 'No sessions', '']}
    />
  )
}
