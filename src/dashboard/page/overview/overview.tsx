// The organization at a glance: what needs someone, the day's numbers beside those of yesterday and of a week ago, and what
// is denied and why. A new organization sees what comes first.
import { call } from '../api/client.ts'
import { useQuery } from '../data/use-query.ts'
import { useInterval } from '../reviews/use-interval.ts'
import { useSession, useWorkplace, type Workplace } from '../shell/session.ts'
import { Loaded } from '../ui/loaded.tsx'
import { Badge, Card, Page } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'
import { zoneWord } from '../ui/relative-time.ts'
import { type Attention, attentionOf } from './attention.ts'
import { daysOf, hoursOf, sinceOf, startOfDay } from './days.ts'
import { Denials } from './denials.tsx'
import { FirstSteps, readBeginning } from './first-steps.tsx'
import { Hours } from './hours.tsx'
import { type Latency, Numbers } from './numbers.tsx'

const AGAIN_MS = 60_000
const LATENCY_MINUTES = 15
const WEEK_MS = 7 * 86_400_000

const readLatency = async (signal: AbortSignal): Promise<Latency> => {
  const { points } = await call('GET /live', { query: { window: '24h', limit: LATENCY_MINUTES }, signal })
  const from = Date.now() - (LATENCY_MINUTES + 1) * AGAIN_MS
  const measured = points.flatMap(({ at, latency_ms: latency }) => (latency === null || at < from ? [] : [latency.p99]))
  return { p99Ms: measured.length === 0 ? null : Math.max(...measured) }
}

const readNow = async ({ params, may }: Workplace, signal: AbortSignal) => {
  const [overview, latency, passkeys] = await Promise.all([
    call('GET /organizations/{organization}/overview', { params, signal }),
    may('deployment') ? readLatency(signal) : null,
    call('GET /me/passkeys', { signal }),
  ])
  return { overview, latency, hasPasskey: passkeys.data.length > 0, nowMs: Date.now() }
}

const readCounts = async ({ params }: Workplace, signal: AbortSignal) => {
  const nowMs = Date.now()
  const path = 'GET /organizations/{organization}/decisions/tally'
  const textOf = (atMs: number): string => new Date(atMs).toISOString()
  const [time, rules] = await Promise.all([
    call(path, { params, query: { by: 'time', since: textOf(sinceOf(nowMs)) }, signal }),
    call(path, {
      params,
      query: { by: 'rule', since: textOf(nowMs - WEEK_MS), later_since: textOf(startOfDay(nowMs, 0)) },
      signal,
    }),
  ])
  const today = rules.data.map(({ later, ...row }) => ({ ...row, later, ...later }))
  return { time, today, week: rules.data, nowMs }
}

const NeedsSomeone = ({ items }: { readonly items: readonly Attention[] }) => {
  return (
    <Card title="Needs someone">
      {items.length === 0 ? (
        <p class="soft">Nothing waits, fails or ends soon.</p>
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

export const Overview = () => {
  const workplace = useWorkplace()
  const { account } = useSession()
  const { organization } = workplace
  const beginning = useQuery((signal) => readBeginning(workplace, signal), [organization.id])
  const now = useQuery((signal) => readNow(workplace, signal), [organization.id])
  const counts = useQuery((signal) => readCounts(workplace, signal), [organization.id])
  useInterval(AGAIN_MS, () => {
    now.reload()
    counts.reload()
    if (beginning.value !== null && beginning.value !== 'done') beginning.reload()
  })
  const { time, today, week, nowMs } = counts.value ?? { time: null, today: [], week: [], nowMs: 0 }
  const isDeciding = week.length > 0
  return (
    <Page title={organization.name} lead={`What needs someone, and today’s numbers, in ${zoneWord()}.`}>
      {beginning.value !== null && beginning.value !== 'done' && <FirstSteps beginning={beginning.value} />}
      <Loaded query={now}>
        {({ overview, latency, hasPasskey, ...read }) => (
          <>
            <NeedsSomeone
              items={attentionOf(overview, {
                nowMs: read.nowMs,
                path: workplace.path,
                mayReview: workplace.may('reviewer'),
                hasSecondFactor: hasPasskey || account.has_totp,
              })}
            />
            <Numbers
              days={time === null ? null : daysOf(time.data, time.step_seconds, nowMs)}
              overview={overview}
              latency={latency}
              nowMs={read.nowMs}
            />
          </>
        )}
      </Loaded>
      <Problem error={counts.error} retry={counts.reload} />
      {time?.up_to_date === false && (
        <Notice title="The numbers are behind the log">
          <p>Decisions of the last moments are signed and written, but not all of them are counted yet.</p>
        </Notice>
      )}
      {isDeciding && time !== null && (
        <>
          <Hours hours={hoursOf(time.data, nowMs)} />
          <Denials today={today} week={week} />
        </>
      )}
    </Page>
  )
}
