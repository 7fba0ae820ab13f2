import { useContext, useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { Session } from '../api/types.ts'
import { usePages } from '../data/use-pages.ts'
import { type QueueParts, useModuleParts } from '../module-pages.ts'
import { navigate, PlaceContext, useSearchParam } from '../router.ts'
import { useLookedFor } from '../shell/look-for.ts'
import { useWorkplace } from '../shell/session.ts'
import { useShortcut } from '../shell/shortcuts.ts'
import { useMake } from '../shell/use-make.ts'
import { useStarter } from '../ui/actions.tsx'
import { Button } from '../ui/button.tsx'
import { shortId } from '../ui/copy.tsx'
import { type Choice, type SelectChoices, SelectField } from '../ui/field.tsx'
import { Badge, Card, Empty, Page } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { type Columns, PagedTable } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { ageTone, ageWord } from './age.ts'
import { useBulk } from './bulk.tsx'
import { FirstSession } from './first-session.tsx'
import { LEVEL_WORDS, STATUS_TONES, STATUS_WORDS, TYPE_WORDS } from './labels.ts'
import { type Reviewers, useOwnId, useReviewers } from './members.ts'
import { filtersOf, queryOf, searchOf } from './queue.ts'
import { SearchField, useFoundSessions } from './search.tsx'
import { inviteToVerify } from './session-link.tsx'
import { useInterval } from './use-interval.ts'
import { Views } from './views.tsx'

const PAGE_SESSIONS = 50
const LOOK_AGAIN_MS = 15_000

const { submitted, pending, retry, completed, rejected } = STATUS_WORDS
const STATUS_CHOICES = { '': submitted, retry, pending, completed, rejected, all: 'All' }
const TYPE_CHOICES = { '': 'All', individual: 'People', business: 'Businesses' }
const ENVIRONMENT_CHOICES = { '': 'All', live: 'Live', test: 'Test' }
const LEVEL_CHOICES = { '': 'All', ...LEVEL_WORDS }
const ORDER_CHOICES = { '': 'Default', oldest: 'Oldest first', newest: 'Newest first' }
const AGE_CHOICES: readonly Choice[] = [
  { value: '', label: 'Any' },
  { value: '1', label: 'Over 1 hour ago' },
  { value: '24', label: 'Over 1 day ago' },
  { value: '72', label: 'Over 3 days ago' },
  { value: '168', label: 'Over 1 week ago' },
]

interface FilterProps {
  readonly name: string
  readonly label: string
  readonly choices: SelectChoices
}

const Filter = ({ name, label, choices }: FilterProps) => {
  const [value, change] = useSearchParam(name)
  return <SelectField label={label} value={value} onValue={change} choices={choices} />
}

/** Waiting time of a waiting session; otherwise, time since the last change. */
const Age = ({ session }: { readonly session: Session }) => {
  const since = session.submitted_at ?? session.created_at
  if (session.status === 'submitted') {
    const nowMs = Date.now()
    return (
      <Badge tone={ageTone(since, nowMs)}>
        <time dateTime={since} title={since}>
          {ageWord(since, nowMs)}
        </time>
      </Badge>
    )
  }
  return <Time at={session.completed_at ?? since} />
}

const columnsFor = (reviewers: Reviewers, waits: boolean, parts: readonly QueueParts[]): Columns<Session> => ({
  Session: ({ id, type, environment }) => (
    <>
      {TYPE_WORDS[type]} <code class="faint">{shortId(id)}</code>{' '}
      {environment === 'test' && <Badge tone="info">Test</Badge>}
    </>
  ),
  [waits ? 'Waiting for' : 'Age']: { narrow: true, cell: (session) => <Age session={session} /> },
  Status: { narrow: true, cell: ({ status }) => <Badge tone={STATUS_TONES[status]}>{STATUS_WORDS[status]}</Badge> },
  Level: { narrow: true, wide: true, cell: ({ level }) => LEVEL_WORDS[level] },
  ...Object.fromEntries(parts.flatMap(({ columns = {} }) => Object.entries(columns))),
  Attempts: { narrow: true, wide: true, align: 'end', cell: ({ retry_count: retries }) => retries + 1 },
  Reviewer: ({ assigned_to: id }) =>
    id === null ? <span class="faint">Unassigned</span> : <span>{reviewers.nameOf(id)}</span>,
  Created: { narrow: true, cell: ({ created_at: at }) => <Time at={at} /> },
})

export const Reviews = () => {
  const { params, path, may } = useWorkplace()
  const ownId = useOwnId()
  const { search } = useContext(PlaceContext)
  const reviewers = useReviewers()
  const filters = filtersOf(search)
  const waits = filters.status === ''
  const pages = usePages(
    (cursor, signal) =>
      call('GET /organizations/{organization}/sessions', {
        params,
        signal,
        query: { ...queryOf(filters, ownId), cursor, limit: PAGE_SESSIONS },
      }),
    [params.organization, filters],
  )
  const ofModules = useModuleParts('queue')
  const parts = ofModules.value ?? []
  const [wanted, setWanted] = useState('')
  const found = useFoundSessions(wanted)
  useLookedFor(setWanted)
  const mayInvite = may('organization-admin')
  const invitation = useStarter(inviteToVerify(params), pages.reload)
  useMake('Invite to verify', mayInvite ? invitation.start : null)
  const { items } = pages
  const bulk = useBulk(items ?? [], reviewers, pages.reload)
  // Reloads only until further pages are loaded, because a reload would remove them.
  useInterval(LOOK_AGAIN_MS, () => {
    if (items !== null && items.length <= PAGE_SESSIONS) pages.reload()
  })
  const [first] = items ?? []
  const hrefOf = ({ id }: Session): string => `${path(`/reviews/${id}`)}${searchOf(filters)}`
  const begin = (): void => {
    if (first !== undefined) navigate(hrefOf(first))
  }
  useShortcut('s', 'Start reviewing', begin)
  const filtered = Object.values(filters).some((value) => value !== '')

  return (
    <Page
      title="Reviews"
      lead="Submissions from people and businesses, longest waiting first."
      actions={
        <>
          {mayInvite && (
            <Button icon="plus" onClick={invitation.start}>
              Invite to verify
            </Button>
          )}
          {waits && first !== undefined && (
            <Button kind="primary" icon="play" onClick={begin}>
              Start reviewing
            </Button>
          )}
        </>
      }
    >
      <Problem error={ofModules.error} retry={ofModules.reload} />
      {waits && parts.map(({ Notice }, index) => Notice && <Notice key={index} />)}
      <SearchField text={wanted} onText={setWanted} />
      {wanted !== '' ? (
        <Card flush>
          <PagedTable
            caption="Search results"
            columns={columnsFor(reviewers, false, parts)}
            pages={found}
            rowKey={({ id }) => id}
            href={({ id }) => `${path(`/reviews/${id}`)}?status=all`}
            empty={
              <Empty icon="search" title="No matching sessions">
                <p>
                  {found.more
                    ? `None among the newest ${found.searched.toLocaleString('en')}. “Show more” looks further back.`
                    : 'Names match by the beginning of each word. Wallets and IDs must match in full.'}
                </p>
              </Empty>
            }
          />
        </Card>
      ) : (
        <>
          <search class="chips" aria-label="Filters">
            <Filter name="status" label="Status" choices={STATUS_CHOICES} />
            <Filter name="type" label="Type" choices={TYPE_CHOICES} />
            <Filter name="level" label="Level" choices={LEVEL_CHOICES} />
            {parts
              .flatMap(({ filters = [] }) => filters)
              .map((filter) => (
                <Filter key={filter.name} {...filter} />
              ))}
            <Filter name="environment" label="Environment" choices={ENVIRONMENT_CHOICES} />
            <Filter
              name="assigned"
              label="Reviewer"
              choices={[
                { value: '', label: 'Anyone' },
                { value: 'nobody', label: 'Unassigned' },
                { value: 'me', label: 'You' },
                ...reviewers.all.filter(({ id }) => id !== ownId).map(({ id, name }) => ({ value: id, label: name })),
              ]}
            />
            <Filter name="age" label="Created" choices={AGE_CHOICES} />
            <Filter
              name="order"
              label="Sort"
              choices={Object.assign({}, ORDER_CHOICES, ...parts.map(({ orders }) => orders))}
            />
          </search>
          <Views search={searchOf(filters)} />
          {bulk.bar}
          <Card flush>
            <PagedTable
              caption="Sessions"
              columns={{ ...columnsFor(reviewers, waits, parts), ...bulk.column }}
              pages={pages}
              rowKey={({ id }) => id}
              href={hrefOf}
              dimmed={({ status }) =>
                !waits && filters.status === 'all' && (status === 'rejected' || status === 'completed')
              }
              empty={
                filters.status === 'all' &&
                Object.entries(filters).every(([name, value]) => name === 'status' || value === '') ? (
                  <FirstSession />
                ) : filtered ? (
                  <Empty
                    icon="search"
                    title="No matching sessions"
                    actions={<Button onClick={() => navigate(path('/reviews'), { replace: true })}>Show queue</Button>}
                  >
                    <p>No session matches the filters above.</p>
                  </Empty>
                ) : (
                  <NothingWaits />
                )
              }
            />
          </Card>
        </>
      )}
      {invitation.dialog}
    </Page>
  )
}

/** Distinguishes between no waiting sessions and no sessions at all. */
const NothingWaits = () => {
  const { params, path } = useWorkplace()
  const pages = usePages(
    (cursor, signal) =>
      call('GET /organizations/{organization}/sessions', { params, signal, query: { cursor, limit: 1 } }),
    [params.organization],
  )
  if (pages.items === null) return null
  if (pages.items.length === 0) return <FirstSession />
  return (
    <Empty
      icon="check"
      title="No sessions to review"
      actions={<Button onClick={() => navigate(`${path('/reviews')}?status=all`)}>Show all sessions</Button>}
    >
      <p>All submissions have been reviewed. New ones appear here automatically.</p>
    </Empty>
  )
}
