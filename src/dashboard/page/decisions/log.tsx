import { call } from '../api/client.ts'
import { useRead } from '../data/use-query.ts'
import { useReadLater } from '../data/use-read-later.ts'
import { useModuleParts } from '../module-pages.ts'
import { type Action, ActionButton } from '../ui/actions.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Badge, Card, Facts, Page } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { countWord } from './labels.tsx'
import { VerifyLog } from './verify-log.tsx'

const LOOK_AGAIN_MS = 500

const REBUILD: Action = {
  label: 'Rebuild index',
  danger: true,
  title: 'Rebuild the search index?',
  text: 'Searches are incomplete until the index has read the whole log. Signing continues, and the log does not change.',
  run: () => call('POST /decision-index/rebuild'),
  done: 'Rebuilding the search index',
}

export const DecisionLog = () => {
  const index = useRead('GET /decision-index')
  const { value } = index
  const ofModules = useModuleParts('decisionLog')
  useReadLater(value !== null && !value.up_to_date, value, LOOK_AGAIN_MS, index.reload)
  return (
    <Page
      title="Decision log"
      lead="Every decision is written to this log before its signature is sent. The search index can be rebuilt from the log at any time."
    >
      <VerifyLog />
      {ofModules.value?.map((Part, index) => (
        <Part key={index} />
      ))}
      <Problem error={ofModules.error} retry={ofModules.reload} />
      <Card title="Search index" actions={<ActionButton action={REBUILD} onDone={index.reload} />}>
        <Loaded query={index}>
          {({ up_to_date: isCurrent, decisions, newest_at: newest, unreadable }) => (
            <Facts
              items={[
                [
                  'Status',
                  <Badge key="status" tone={isCurrent ? 'good' : 'warn'}>
                    {isCurrent ? 'Up to date' : 'Catching up with the log'}
                  </Badge>,
                ],
                ['Decisions', countWord(decisions)],
                ['Newest since startup', <Time key="newest" at={newest} none="None" full />],
                [
                  'Unreadable lines',
                  unreadable === 0 ? (
                    'None'
                  ) : (
                    <Badge key="unreadable" tone="bad">
                      {countWord(unreadable)}
                    </Badge>
                  ),
                ],
              ]}
            />
          )}
        </Loaded>
      </Card>
    </Page>
  )
}
