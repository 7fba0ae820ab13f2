// The decision log of the deployment: how far its search index is, and checking every line of it.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { useAction } from '../data/use-action.ts'
import { useRead } from '../data/use-query.ts'
import { useReadLater } from '../data/use-read-later.ts'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/dialog.tsx'
import { Badge, Card, Facts, Loading, Page } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { say } from '../ui/toast.tsx'
import { countWord } from './labels.tsx'
import { LogHeadCard } from './log-head.tsx'
import { VerifyLog } from './verify-log.tsx'

const LOOK_AGAIN_MS = 500
export const DecisionLog = () => {
  const [rebuilding, setRebuilding] = useState(false)
  const index = useRead('GET /decision-index')
  const rebuild = useAction(async () => {
    await call('POST /decision-index/rebuild')
    setRebuilding(false)
    say('The search is being built anew')
    index.reload()
  })
  const { value } = index
  useReadLater(value !== null && !value.up_to_date, value, LOOK_AGAIN_MS, index.reload)
  return (
    <Page
      title="Decision log"
      lead="What was decided is written here before its signature leaves. The search index is built from it and can be built anew at any time."
    >
      <VerifyLog />
      <LogHeadCard />
      <Card title="Search index" actions={<Button onClick={() => setRebuilding(true)}>Build it anew…</Button>}>
        {value === null ? (
          index.error === null ? (
            <Loading />
          ) : (
            <Problem error={index.error} retry={index.reload} />
          )
        ) : (
          <Facts
            items={[
              [
                'State',
                value.up_to_date ? (
                  <Badge key="state" tone="good">
                    Up to date
                  </Badge>
                ) : (
                  <Badge key="state" tone="warn">
                    Behind the log, catching up
                  </Badge>
                ),
              ],
              ['Decisions', countWord(value.decisions)],
              ['Newest', <Time key="newest" at={value.newest_at} none="none since the service started" full />],
              [
                'Unreadable lines',
                value.unreadable === 0 ? (
                  'none'
                ) : (
                  <Badge key="unreadable" tone="bad">
                    {countWord(value.unreadable)}
                  </Badge>
                ),
              ],
            ]}
          />
        )}
      </Card>
      {rebuilding && (
        <ConfirmDialog
          title="Build the search anew"
          confirmLabel="Build it anew"
          action={rebuild}
          onClose={() => setRebuilding(false)}
        >
          <p>
            Until it has read the whole log again, searches find only a part of the decisions. Signing goes on, and
            nothing of the log changes.
          </p>
        </ConfirmDialog>
      )}
    </Page>
  )
}
