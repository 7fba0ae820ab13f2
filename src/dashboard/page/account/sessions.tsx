// The browsers in which one is signed in, each of which can be put out.

import { counted } from '../../../lib/counted.ts'
import { call } from '../api/client.ts'
import type { UserSession } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { useRead } from '../data/use-query.ts'
import { Button } from '../ui/button.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Badge, Card } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { say } from '../ui/toast.tsx'
import { browserName } from './browser-name.ts'

export const Sessions = () => {
  const query = useRead('GET /me/sessions')
  const { value, reload } = query
  const endOne = useAction(async (session: UserSession) => {
    await call('DELETE /me/sessions/{session}', { params: { session: session.id } })
    say('Session ended')
    reload()
  })
  const endOthers = useAction(async () => {
    const { ended } = await call('DELETE /me/sessions')
    say(counted(ended, 'session ended', 'sessions ended'))
    reload()
  })
  return (
    <Card
      flush
      title="Where you are signed in"
      text="A session ends after two hours without use, and after twelve in any case."
      actions={
        value !== null &&
        value.data.length > 1 && (
          <Button small busy={endOthers.busy} onClick={() => endOthers.run()}>
            End all others
          </Button>
        )
      }
    >
      <Problem error={endOne.failure ?? endOthers.failure} />
      <Loaded query={query}>
        {(value) => (
          <Table<UserSession>
            caption="Your sessions"
            rows={value.data}
            rowKey={({ id }) => id}
            columns={{
              Browser: ({ user_agent: agent, current }) => (
                <>
                  <span title={agent}>{browserName(agent)}</span> {current && <Badge tone="good">This one</Badge>}
                </>
              ),
              From: ({ address }) => <code>{address}</code>,
              Begun: ({ created_at: at }) => <Time at={at} />,
              'Last seen': ({ last_seen_at: at }) => <Time at={at} />,
              '': (session) =>
                !session.current && (
                  <Button small busy={endOne.busy} onClick={() => endOne.run(session)}>
                    End it
                  </Button>
                ),
            }}
          />
        )}
      </Loaded>
    </Card>
  )
}
