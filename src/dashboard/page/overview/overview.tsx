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
import { decisionBars, endOfQuarter, latencyBars, questionOf, startOfDay } from './days.ts'
import { Denials } from './denials.tsx'
import { FirstSteps, readBeginning } from './first-steps.tsx'
import { Hours } from './hours.tsx'
import { Numbers } from './numbers.tsx'

const AGAIN_MS = 60_000
const WEEK_MS = 7 * 86_400_000

const readNow = async ({ params }: Workplace, signal: AbortSignal) => {
  const [overview, passkeys] = await Promise.all([
    call('GET /organizations/{organization}/overview', { params, signal }),
    call('GET /me/passkeys', { signal }),
  ])
  return { overview, hasPasskey: passkeys.data.length > 0, nowMs: Date.now() }
}

const readCounts = async ({ params }: Workplace, signal: AbortSignal) => {
  const nowMs = Date.now()
  const [numbers, rules] = await Promise.all([
    call('GET /organizations/{organization}/numbers', { params, query: questionOf(nowMs), signal }),
    call('GET /organizations/{organization}/decisions/tally', {
      params,
      query: {
        by: 'rule',
        since: new Date(nowMs - WEEK_MS).toISOString(),
        later_since: new Date(startOfDay(nowMs, 0)).toISOString(),
      },
      signal,
    }),
  ])
  const [today, yesterday, weekAgo] = numbers.days
  return {
    days: today && yesterday && weekAgo ? { today, yesterday, weekAgo, untilMs: endOfQuarter(nowMs) } : null,
    hours: numbers.hours,
    isBehind: !numbers.up_to_date,
    rulesToday: rules.data.map(({ later, ...row }) => ({ ...row, later, ...later })),
    rules: rules.data,
  }
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
  const { value } = counts
  return (
    <Page title={organization.name} lead={`What needs someone, and today’s numbers, in ${zoneWord()}.`}>
      {beginning.value !== null && beginning.value !== 'done' && <FirstSteps beginning={beginning.value} />}
      <Loaded query={now}>
        {({ overview, hasPasskey, nowMs }) => (
          <>
            <NeedsSomeone
              items={attentionOf(overview, {
                nowMs,
                path: workplace.path,
                mayReview: workplace.may('reviewer'),
                hasSecondFactor: hasPasskey || account.has_totp,
              })}
            />
            <Numbers days={value?.days ?? null} overview={overview} nowMs={nowMs} />
          </>
        )}
      </Loaded>
      <Problem error={counts.error} retry={counts.reload} />
      {value?.isBehind === true && (
        <Notice title="The numbers are behind the log">
          <p>Decisions of the last moments are signed and written, but not all of them are counted yet.</p>
        </Notice>
      )}
      {value !== null && value.rules.length > 0 && (
        <>
          <Hours
            title="Decisions by hour"
            unit="an hour"
            parts={['Attested', 'Denied']}
            bars={decisionBars(value.hours)}
          />
          <Hours
            title="Latency by hour"
            text="From a request to its verdict: half of them took at most p50, 95 of 100 at most p95. Refusals are left out."
            unit="ms"
            parts={['p50', 'p95']}
            bars={latencyBars(value.hours)}
          />
          <Denials today={value.rulesToday} week={value.rules} />
        </>
      )}
    </Page>
  )
}
