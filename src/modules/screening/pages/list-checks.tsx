import { useEffect } from 'preact/hooks'
import { type AnswerOf, call } from '../../../dashboard/page/api/client.ts'
import { useRead } from '../../../dashboard/page/data/use-query.ts'
import type { ReviewSectionProps } from '../../../dashboard/page/module-pages.ts'
import { actorWord } from '../../../dashboard/page/reviews/labels.ts'
import { useInterval } from '../../../dashboard/page/reviews/use-interval.ts'
import { useWorkplace } from '../../../dashboard/page/shell/session.ts'
import { ActionButton, action } from '../../../dashboard/page/ui/actions.tsx'
import { Badge, Card } from '../../../dashboard/page/ui/parts.tsx'
import { Problem, type Tone } from '../../../dashboard/page/ui/problem.tsx'
import { Table } from '../../../dashboard/page/ui/table.tsx'

type Hit = AnswerOf<'GET /organizations/{organization}/sessions/{session}/checks/lists'>['hits'][number]
type Decided = Exclude<Hit['state'], 'open'>

const LOOK_AGAIN_MS = 2_000

const STATE_TONES: Readonly<Record<Hit['state'], Tone | 'plain'>> = { open: 'warn', cleared: 'good', confirmed: 'bad' }

interface Decision {
  readonly word: string
  readonly title: string
  readonly hint: string
}

const SUBMIT: Readonly<Record<Decided, string>> = { cleared: 'Clear hit', confirmed: 'Confirm hit' }
const CONFIRMED = 'Stored with the session. You can then reject the session.'
const BY_NAME: Readonly<Record<Decided, Decision>> = {
  cleared: {
    word: 'Not a match',
    title: 'Not a match',
    hint: 'For example, a different date of birth. Stored with the session.',
  },
  confirmed: {
    word: 'Confirm match',
    title: 'Same person or company',
    hint: CONFIRMED,
  },
}
const BY_WALLET: Readonly<Record<Decided, Decision>> = {
  cleared: {
    word: 'No concern',
    title: 'No concern about this wallet',
    hint: 'For example, listed by mistake. Stored with the session.',
  },
  confirmed: {
    word: 'Confirm risk',
    title: 'Wallet counts against the person',
    hint: CONFIRMED,
  },
}

const isWallet = ({ subject }: Hit): boolean => subject === 'wallet'
const decisionOf = (hit: Hit, state: Decided): Decision => (isWallet(hit) ? BY_WALLET : BY_NAME)[state]

/** Returns the name, or `Erased` after an erasure. */
const nameOf = ({ name }: Hit): string => (name === '' ? 'Erased' : name)

const placeOf = (hit: Hit): string => {
  if (!isWallet(hit)) return `${hit.list}, entry ${hit.entry}`
  return hit.check.startsWith('wallets.screeners.') ? `reported by the screener ${hit.list}` : `on the list ${hit.list}`
}

const decideHit = (params: { readonly organization: string; readonly session: string }, hit: Hit, state: Decided) => {
  const { word, title, hint } = decisionOf(hit, state)
  return action({
    label: word,
    title,
    submit: SUBMIT[state],
    danger: state === 'confirmed',
    text: `${nameOf(hit)}, ${placeOf(hit)}.`,
    fields: {
      reason: {
        label: 'Reason',
        hint,
        rows: 3,
        pattern: [/\S.*\S.*\S/s, 'Enter a reason for the next reviewer.'],
      },
    },
    run: ({ reason }) =>
      call('POST /organizations/{organization}/sessions/{session}/checks/lists/{hit}', {
        params: { ...params, hit: hit.id },
        body: { state, expected: hit.state, reason },
      }),
    done: state === 'cleared' ? 'Hit cleared' : 'Hit confirmed',
  })
}

const Why = ({ hit }: { readonly hit: Hit }) => (
  <>
    {hit.why.map(({ part, points, detail }) => (
      <div key={part}>
        {detail}{' '}
        {!isWallet(hit) && <span class="faint">({points > 0 && part !== 'name' ? `+${points}` : points})</span>}
      </div>
    ))}
    {hit.reason !== null && (
      <div>
        “{hit.reason}”{' '}
        <span class="faint">
          {hit.decided_by !== null && actorWord({ actor: hit.decided_by, key_name: null, policy_name: null })}
        </span>
      </div>
    )}
  </>
)

export const ListChecks = ({ session, onDecided, onOpenHits }: ReviewSectionProps) => {
  const { params } = useWorkplace()
  const path = { ...params, session: session.id }
  const { value, error, reload } = useRead(
    'GET /organizations/{organization}/sessions/{session}/checks/lists',
    { params: path },
    session.sequence,
  )
  const waiting = value?.waiting === true
  useInterval(LOOK_AGAIN_MS, () => {
    if (waiting) reload()
  })
  const openHits = value?.hits.filter(({ state }) => state === 'open').length ?? 0
  useEffect(() => {
    if (value !== null) onOpenHits(openHits)
  }, [onOpenHits, value, openHits])
  if (value === null) return <Problem error={error} retry={reload} />
  const { outcome, detail, hits, ended_hits: ended, versions } = value
  const rows: readonly (Hit & { readonly ended_at?: string })[] = [...hits, ...ended]
  if (rows.length === 0 && outcome === 'off') return null
  return (
    <Card
      title="Sanctions lists and wallets"
      text={
        hits.length === 0
          ? undefined
          : session.status === 'completed'
            ? 'A hit does not change the session. Clear it, or confirm it and revoke the session.'
            : 'The session can’t be completed while a hit is open.'
      }
    >
      {outcome === 'waiting' && <p class="soft">Comparing names…</p>}
      {outcome === 'not-done' && <p class="soft">Names were not compared: {detail}.</p>}
      {outcome === 'passed' && hits.length === 0 && (
        <p class="soft">No match in {versions.map(({ list }) => list).join(', ')}.</p>
      )}
      {rows.length > 0 && (
        <Table
          caption="Hits on lists"
          rows={rows}
          rowKey={({ id }) => id}
          columns={{
            Found: (hit) => (
              <>
                <span class={isWallet(hit) ? 'mono' : undefined}>{nameOf(hit)}</span>
                <div class="faint">{placeOf(hit)}</div>
              </>
            ),
            Subject: { cell: ({ subject }) => subject, narrow: true },
            Similarity: { cell: (hit) => (isWallet(hit) ? 'exact' : `${hit.score} of 100`), narrow: true },
            Why: (hit) => <Why hit={hit} />,
            Outcome: {
              cell: (hit) =>
                hit.state === 'open' ? (
                  <div class="form-actions">
                    {(['cleared', 'confirmed'] as const).map((state) => (
                      <ActionButton
                        key={state}
                        action={decideHit(path, hit, state)}
                        onDone={() => {
                          reload()
                          onDecided()
                        }}
                      />
                    ))}
                  </div>
                ) : (
                  <>
                    <Badge tone={STATE_TONES[hit.state]}>{decisionOf(hit, hit.state).word}</Badge>
                    {hit.ended_at !== undefined && <div class="faint">No longer found</div>}
                  </>
                ),
              narrow: true,
            },
          }}
        />
      )}
    </Card>
  )
}
