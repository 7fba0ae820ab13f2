// A decision names the state that it is based on, so that reviewers can't overwrite each other.
import { useRef, useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import type { SessionDetail } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { type Query, useRead } from '../data/use-query.ts'
import { type ReviewParts, useModuleParts } from '../module-pages.ts'
import type { PageProps } from '../pages.ts'
import { navigate } from '../router.ts'
import { useWorkplace } from '../shell/session.ts'
import { useShortcut } from '../shell/shortcuts.ts'
import { action, menuItems, useActions } from '../ui/actions.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import { RowMenu } from '../ui/menu.tsx'
import { Badge, Loading, Page } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'
import { say } from '../ui/toast.tsx'
import { type Decided, EMPTY_DRAFT, type Verdict } from './decision.tsx'
import { Evidence } from './evidence.tsx'
import { History } from './history.tsx'
import { nameOf, Portrait, Risks } from './identity.tsx'
import { actorWord, eventWord, STATUS_TONES, STATUS_WORDS, TYPE_WORDS } from './labels.ts'
import { useOwnId } from './members.ts'
import { useWay, type Way } from './queue.ts'
import { SessionChecks, useChecks } from './session-checks.tsx'
import { SendLink } from './session-link.tsx'
import { Side } from './side.tsx'
import { erase, revoke } from './undo.tsx'
import { useEvidence } from './use-evidence.ts'
import { useInterval } from './use-interval.ts'
import { Wallets } from './wallets.tsx'

const LOOK_AGAIN_MS = 10_000

const DONE_WORDS: Readonly<Record<Verdict, string>> = {
  completed: 'Approved',
  retry: 'Sent back',
  rejected: 'Rejected',
}

/** Describes the latest change by another user. */
const movedText = (before: SessionDetail, now: SessionDetail): string => {
  const last = now.events.findLast(({ sequence }) => sequence > before.sequence)
  if (last !== undefined) return `${eventWord(last)} by ${actorWord(last)} while you were viewing it.`
  return now.assigned_to === null
    ? 'It was returned to the queue while you were viewing it.'
    : 'It was reassigned while you were viewing it.'
}

/** A response may predate the user's own change. */
const hasMoved = (before: SessionDetail, now: SessionDetail): boolean =>
  now.sequence > before.sequence || now.assignment_version > before.assignment_version

export const Review = ({ params: { session: id = '' } }: PageProps) => {
  const { params, path } = useWorkplace()
  const way = useWay(id)
  const back = `${path('/reviews')}${way.search}`
  const session = useRead('GET /organizations/{organization}/sessions/{session}', {
    params: { ...params, session: id },
  })
  const parts = useModuleParts('review')
  const go = (to: { readonly id: string } | null): void => {
    if (to !== null) navigate(`${path(`/reviews/${to.id}`)}${way.search}`)
  }
  useShortcut('j', 'Next session', () => go(way.next))
  useShortcut('k', 'Previous session', () => go(way.previous))
  useShortcut('u', 'Back to the queue', () => navigate(back))
  const crumbs = [{ label: 'Reviews', href: back }]
  if (session.value === null || parts.value === null) {
    const failed = [session, parts].find(({ value, error }) => value === null && error !== null)
    return (
      <Page title="Session" crumbs={crumbs}>
        {failed === undefined ? <Loading /> : <Problem error={failed.error} retry={failed.reload} />}
      </Page>
    )
  }
  return <OneSession session={session.value} parts={parts.value} query={session} way={way} back={back} go={go} />
}

interface OneSessionProps {
  readonly session: SessionDetail
  readonly parts: readonly ReviewParts[]
  readonly query: Query<SessionDetail>
  readonly way: Way
  readonly back: string
  readonly go: (to: { readonly id: string } | null) => void
}

const OneSession = ({ session, parts, query, way, back, go }: OneSessionProps) => {
  const { params, may, path: pathOf } = useWorkplace()
  const [moved, setMoved] = useState<string | null>(null)
  const [draft, setDraft] = useState(EMPTY_DRAFT)
  const [decidedHits, setDecidedHits] = useState(0)
  const [openHits, setOpenHits] = useState(session.hits.open)
  const { start, dialog } = useActions()
  const ownId = useOwnId()
  const path = { ...params, session: session.id }
  const decidedHref = `${pathOf(`/reviews/${session.id}`)}?status=all`
  const read = (): Promise<SessionDetail> =>
    call('GET /organizations/{organization}/sessions/{session}', { params: path })
  const evidence = useEvidence(session)
  const checks = useChecks(session, decidedHits)
  // Open hits are decided first.
  const [hitsFirst] = useState(session.hits.open > 0)
  // The displayed state may have changed between request and response.
  const latest = useRef(session)
  latest.current = session
  const take = (now: SessionDetail): boolean => {
    if (!hasMoved(latest.current, now)) return false
    query.set(now)
    setMoved(movedText(latest.current, now))
    evidence.list.reload()
    return true
  }
  const look = useAction(async () => {
    take(await read())
  })
  const decide = useAction(async (decided: Decided) => {
    try {
      const answer = await call('POST /organizations/{organization}/sessions/{session}/decide', {
        params: path,
        body: { ...decided, sequence: session.sequence },
      })
      say(DONE_WORDS[decided.status], { label: 'View session', href: decidedHref })
      latest.current = answer
      query.set(answer)
      setMoved(null)
      // The session is decided even if the queue can't be read.
      const next = await way.findNext(ownId).catch(() => 'stay' as const)
      if (next === 'stay') return
      if (next === null) navigate(back)
      else go(next)
    } catch (error) {
      // Refused because the state has changed; the page shows a notice and the new state.
      if (error instanceof ApiError && error.status === 409 && take(await read())) return
      throw error
    }
  })
  const sendAgain = action({
    label: 'Create new link',
    icon: 'link',
    run: () => call('POST /organizations/{organization}/sessions/{session}/link', { params: path }),
    done: (link) => (close) => <SendLink link={link} onClose={close} />,
  })
  useInterval(LOOK_AGAIN_MS, () => {
    if (!decide.busy && dialog === null) look.run()
  })

  const { type, environment, status } = session
  const sections = parts.map(
    ({ Section }, index) =>
      Section && (
        <Section
          key={index}
          session={session}
          onDecided={() => setDecidedHits((hits) => hits + 1)}
          onOpenHits={setOpenHits}
        />
      ),
  )
  return (
    <Page
      title={TYPE_WORDS[type]}
      heading={
        <>
          <Portrait session={session} evidence={evidence} /> {nameOf(evidence.fields.value) ?? TYPE_WORDS[type]}
        </>
      }
      crumbs={[{ label: 'Reviews', href: back }]}
      badge={
        <>
          <Badge tone={STATUS_TONES[status]}>{STATUS_WORDS[status]}</Badge>{' '}
          {environment === 'test' && <Badge tone="info">Test</Badge>}
        </>
      }
      lead={<Risks session={session} evidence={evidence} openHits={openHits} checks={checks.value?.checks ?? []} />}
      actions={
        <div class="review-way">
          <span class="faint">
            {way.position === null ? '' : `${way.position} of ${way.length}${way.more ? '+' : ''}`}
          </span>
          <IconButton
            icon="back"
            label="Previous (k)"
            disabled={way.previous === null}
            onClick={() => go(way.previous)}
          />
          <IconButton icon="forward" label="Next (j)" disabled={way.next === null} onClick={() => go(way.next)} />
          {may('organization-admin') && (
            <RowMenu
              label="More actions"
              items={menuItems(
                [
                  (status === 'pending' || status === 'retry') && sendAgain,
                  status === 'completed' && revoke(session, path, query.set),
                  erase(session, path, () => {
                    query.reload()
                    evidence.list.reload()
                  }),
                ],
                start,
              )}
            />
          )}
        </div>
      }
    >
      {moved !== null && (
        <Notice
          tone="warn"
          urgent
          title="This session has changed"
          actions={
            <>
              <Button small onClick={() => setMoved(null)}>
                Continue with this version
              </Button>
              {way.next !== null && (
                <Button small kind="quiet" onClick={() => go(way.next)}>
                  Next session
                </Button>
              )}
            </>
          }
        >
          <p>{moved} This page shows the current version. Your decision was not sent.</p>
        </Notice>
      )}
      <div class="review">
        <div class="review-main">
          {hitsFirst && sections}
          <Evidence session={session} evidence={evidence} />
          {parts.map(
            ({ Comparison }, index) =>
              Comparison && <Comparison key={index} session={session} checks={checks.value?.checks ?? []} />,
          )}
          {!hitsFirst && sections}
          <Wallets session={session} />
          <History session={session} />
        </div>
        <aside class="review-side" aria-label="Decision">
          <Side
            session={session}
            decide={decide}
            query={query}
            draft={draft}
            list={evidence.list.value}
            openHits={openHits}
            onDraft={setDraft}
            onMoved={look.run}
          >
            <SessionChecks query={checks} parts={parts} />
          </Side>
        </aside>
      </div>
      {dialog}
    </Page>
  )
}
