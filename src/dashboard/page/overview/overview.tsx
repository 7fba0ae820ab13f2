// Overview of the organization: items that need attention, the day's figures compared with yesterday and last week, and
// denials by rule. A new organization sees its first steps.
import { call } from '../api/client.ts'
import type { Overview as Answer } from '../api/types.ts'
import { useQuery } from '../data/use-query.ts'
import { useInterval } from '../reviews/use-interval.ts'
import { useSession, useWorkplace, type Workplace } from '../shell/session.ts'
import { lazy } from '../ui/lazy.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Badge, Card, Page } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'
import { zoneWord } from '../ui/relative-time.ts'
import { type Attention, attentionOf } from './attention.ts'
import { endOfQuarter, questionOf } from './days.ts'
import { Numbers } from './numbers.tsx'

const Charts = lazy(async () => (await import('./charts.tsx')).Charts, { meanwhile: null, isFirst: true })
const FirstSteps = lazy(async () => (await import('./first-steps.tsx')).FirstSteps, { meanwhile: null, isFirst: true })

const AGAIN_MS = 60_000

const readNow = async ({ params }: Workplace, signal: AbortSignal) => ({
  overview: await call('GET /organizations/{organization}/overview', { params, signal }),
  nowMs: Date.now(),
})

const readCounts = async ({ params }: Workplace, signal: AbortSignal) => {
  const nowMs = Date.now()
  const query = questionOf(nowMs)
  const numbers = await call('GET /organizations/{organization}/numbers', { params, query, signal })
  const [today, yesterday, weekAgo] = numbers.days
  return {
    ...numbers,
    days: today && yesterday && weekAgo ? { today, yesterday, weekAgo, untilMs: endOfQuarter(nowMs) } : null,
  }
}

const NeedsSomeone = ({ items }: { readonly items: readonly Attention[] }) => {
  return (
    <Card title="Needs attention">
      {items.length === 0 ? (
        <p class="soft">Nothing is waiting, failing or about to expire.</p>
      ) : (
        <ul class="attention">
          {items.map((item) => (
            <li key={item.text}>
              <Badge tone={item.tone}>{item.label}</Badge>
              {item.href === null ? <span>{item.text}</span> : <a href={item.href}>{item.text}</a>}
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

interface BeginningProps extends Pick<Answer, 'first_steps'> {
  readonly isDeciding: boolean
}

/** Shows nothing after all first steps are done and there are decisions. */
const Beginning = ({ first_steps: beginning, isDeciding }: BeginningProps) =>
  beginning.policy && beginning.project !== null && beginning.key && isDeciding ? null : (
    <FirstSteps beginning={beginning} isDeciding={isDeciding} />
  )

export const Overview = () => {
  const workplace = useWorkplace()
  const { account, modules } = useSession()
  const { organization } = workplace
  const now = useQuery((signal) => readNow(workplace, signal), [organization.id])
  const counts = useQuery((signal) => readCounts(workplace, signal), [organization.id])
  useInterval(AGAIN_MS, () => {
    now.reload()
    counts.reload()
  })
  const { value } = counts
  return (
    <Page title={organization.name} lead={`Items that need attention, and today’s numbers in ${zoneWord()}.`}>
      <Loaded query={now}>
        {({ overview, nowMs }) => (
          <>
            {(value !== null || counts.error !== null) && <Beginning {...overview} isDeciding={value?.any ?? true} />}
            <NeedsSomeone
              items={attentionOf(
                overview,
                {
                  nowMs,
                  path: workplace.path,
                  mayReview: workplace.may('reviewer'),
                  hasSecondFactor: account.has_passkeys || account.has_totp,
                },
                modules,
              )}
            />
            <Numbers days={value?.days ?? null} overview={overview} nowMs={nowMs} />
          </>
        )}
      </Loaded>
      <Problem error={counts.error} retry={counts.reload} />
      {value?.up_to_date === false && (
        <Notice title="The numbers are behind the log">
          <p>The newest decisions are signed and logged, but not all are counted yet.</p>
        </Notice>
      )}
      {value !== null && value.rules.length > 0 && <Charts hours={value.hours} rules={value.rules} />}
    </Page>
  )
}
