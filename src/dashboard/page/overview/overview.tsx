// Items that need attention, and the day's figures compared with earlier days. A new organization sees its first steps.
import { useRef, useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { Overview as Answer } from '../api/types.ts'
import { useQuery } from '../data/use-query.ts'
import { useReadLater } from '../data/use-read-later.ts'
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
const COUNTED_MS = 1_000

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

const NeedsAttention = ({ items }: { readonly items: readonly Attention[] }) =>
  items.length === 0 ? null : (
    <Card title="Needs attention">
      <ul class="attention">
        {items.map((item) => (
          <li key={item.text}>
            <Badge tone={item.tone}>{item.label}</Badge>
            {item.href === null ? <span>{item.text}</span> : <a href={item.href}>{item.text}</a>}
          </li>
        ))}
      </ul>
    </Card>
  )

interface BeginningProps extends Pick<Answer, 'first_steps'> {
  readonly isDeciding: boolean
  readonly onDecided: () => void
}

/** Stays until all steps are done and the user leaves the page, so that the first response can be read. */
const Beginning = ({ first_steps: beginning, ...props }: BeginningProps) => {
  const isShown = useRef(false)
  isShown.current ||= !(beginning.policy && beginning.project !== null && beginning.key && props.isDeciding)
  return isShown.current ? <FirstSteps beginning={beginning} {...props} /> : null
}

const hasSessions = ({ reviews, verified }: Answer): boolean =>
  reviews.waiting + verified.people + verified.businesses > 0

export const Overview = () => {
  const workplace = useWorkplace()
  const { account, modules } = useSession()
  const { organization } = workplace
  const now = useQuery((signal) => readNow(workplace, signal), [organization.id])
  const counts = useQuery((signal) => readCounts(workplace, signal), [organization.id])
  const reload = (): void => {
    now.reload()
    counts.reload()
  }
  useInterval(AGAIN_MS, reload)
  const { value } = counts
  // A decision is counted moments after it is made.
  const [hasDecided, setDecided] = useState(false)
  useReadLater(hasDecided && value?.any === false, value, COUNTED_MS, reload)
  return (
    <Page
      title={organization.name}
      lead={`Today’s numbers so far, compared with the same time of day (${zoneWord()}).`}
    >
      <Loaded query={now}>
        {({ overview, nowMs }) => (
          <>
            <NeedsAttention
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
            {(value !== null || counts.error !== null) && (
              <Beginning
                {...overview}
                isDeciding={value?.any ?? true}
                onDecided={() => {
                  setDecided(true)
                  reload()
                }}
              />
            )}
            <Numbers days={value?.days ?? null} overview={overview} nowMs={nowMs} />
            <Problem error={counts.error} retry={counts.reload} />
            {value?.up_to_date === false && (
              <Notice title="The numbers are behind the log">
                <p>The newest decisions are signed and logged, but not all are counted yet.</p>
              </Notice>
            )}
            {value !== null && (value.rules.length > 0 || hasSessions(overview)) && (
              <Charts hours={value.hours} rules={value.rules} hasSessions={hasSessions(overview)} />
            )}
          </>
        )}
      </Loaded>
    </Page>
  )
}
