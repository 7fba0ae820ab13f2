// Decisions, found by wallet, project, verdict, rule and time. The index behind the search follows the log: where it is
// not up to date, or a search stopped early to stay quick, the page says so.
import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { fieldProblemOf } from '../api/errors.ts'
import type { Decision } from '../api/types.ts'
import { TryIt } from '../attest/try-it.tsx'
import { readAll, usePages } from '../data/use-pages.ts'
import { useQuery } from '../data/use-query.ts'
import { usePolicies } from '../projects/policies.ts'
import { navigate } from '../router.ts'
import { useWorkplace } from '../shell/session.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { shorten } from '../ui/copy.tsx'
import { type Choice, SelectField, TextField } from '../ui/field.tsx'
import { Card, Empty, Page } from '../ui/parts.tsx'
import { Notice } from '../ui/problem.tsx'
import { type Column, PagedTable } from '../ui/table.tsx'
import { ExportMenu, ExportProgress } from './export.tsx'
import { isUuid, queryOf, type SearchInAddress, useSearch } from './search.ts'
import { countWord, preciseTime, RuleOf, Verdict } from './words.tsx'

const PAGE_DECISIONS = 50

const VERDICT_CHOICES: readonly Choice[] = [
  { value: '', label: 'All' },
  { value: 'compliant', label: 'Compliant' },
  { value: 'denied', label: 'Denied' },
]
/** Minutes. */
const LAST_CHOICES: readonly Choice[] = [
  { value: '', label: 'At any time' },
  { value: '15', label: 'Last 15 minutes' },
  { value: '60', label: 'Last hour' },
  { value: '1440', label: 'Last 24 hours' },
  { value: '10080', label: 'Last 7 days' },
  { value: 'between', label: 'Between…' },
]

interface Names {
  readonly projects: readonly Choice[]
  readonly policies: readonly Choice[]
  readonly projectName: (id: string) => string
}

const useNames = (): Names & { readonly firstHash: string | null; readonly known: boolean } => {
  const { params } = useWorkplace()
  const policies = usePolicies()
  const { value } = useQuery(
    (signal) =>
      readAll((cursor) =>
        call('GET /organizations/{organization}/projects', { params, query: { limit: 200, cursor }, signal }),
      ),
    [params.organization],
  )
  const all = { value: '', label: 'All' }
  const names = new Map((value ?? []).map(({ id, name }) => [id, name]))
  return {
    projects: [all, ...(value ?? []).map(({ id, name }) => ({ value: id, label: name }))],
    policies: [all, ...(policies.all ?? []).map(({ id, name }) => ({ value: id, label: name }))],
    projectName: (id) => names.get(id) ?? id,
    firstHash: value?.[0]?.verification_hash ?? null,
    known: value !== null,
  }
}

const Filters = ({ search, names, error }: { search: SearchInAddress; names: Names; error: unknown }) => {
  const { path } = useWorkplace()
  const { filters, change, clear, narrowed } = search
  const [text, setText] = useState(filters.wallet)
  const [rule, setRule] = useState(filters.rule)
  // The address may change from elsewhere: a link, or all of it taken back.
  useEffect(() => setText(filters.wallet), [filters.wallet])
  useEffect(() => setRule(filters.rule), [filters.rule])
  const between = filters.last === 'between' || filters.since !== '' || filters.until !== ''
  const problem = fieldProblemOf(error)
  const find = (event: Event): void => {
    event.preventDefault()
    const wanted = text.trim()
    // A uuid names one decision: there is nothing to list.
    if (isUuid(wanted)) navigate(path(`/decisions/${wanted.toLowerCase()}`))
    else change({ wallet: wanted, rule: rule.trim() })
  }
  return (
    <search aria-label="Search decisions">
      <form class="search-rows" noValidate onSubmit={find}>
        <div class="filters">
          <div class="filter-wide">
            <TextField
              label="Wallet or uuid"
              mono
              type="search"
              value={text}
              onValue={setText}
              error={problem?.field === 'wallet' ? problem.text : undefined}
              input={{ 'data-search': true, maxLength: 100, placeholder: '0x… or a Solana address' }}
            />
          </div>
          <TextField label="Rule" mono type="search" value={rule} onValue={setRule} input={{ maxLength: 100 }} />
          <Button submit icon="search">
            Search
          </Button>
        </div>
        <div class="filters">
          <SelectField
            label="Verdict"
            value={filters.verdict}
            onValue={(verdict) => change({ verdict })}
            choices={VERDICT_CHOICES}
          />
          <SelectField
            label="Project"
            value={filters.project}
            onValue={(project) => change({ project })}
            choices={names.projects}
          />
          <SelectField
            label="Policy"
            value={filters.policy}
            onValue={(policy) => change({ policy })}
            choices={names.policies}
          />
          <SelectField
            label="Time"
            value={between ? 'between' : filters.last}
            onValue={(last) => change({ last, since: '', until: '' })}
            choices={LAST_CHOICES}
          />
          {between && (
            <>
              <TextField
                label="From"
                type="datetime-local"
                value={filters.since}
                onValue={(since) => change({ since })}
                input={{ step: 1 }}
              />
              <TextField
                label="Until"
                type="datetime-local"
                value={filters.until}
                onValue={(until) => change({ until })}
                input={{ step: 1 }}
              />
            </>
          )}
          {narrowed && (
            <Button
              kind="quiet"
              onClick={() => {
                setText('')
                setRule('')
                clear()
              }}
            >
              Clear
            </Button>
          )}
        </div>
      </form>
    </search>
  )
}

const columnsFor = (names: Names): readonly Column<Decision>[] => [
  { label: 'Decided', narrow: true, cell: ({ at }) => <time dateTime={at}>{preciseTime(at)}</time> },
  { label: 'Verdict', narrow: true, cell: (decision) => <Verdict decision={decision} /> },
  { label: 'Wallet', narrow: true, cell: ({ from }) => <code title={from}>{shorten(from)}</code> },
  { label: 'Chain', narrow: true, cell: ({ chain }) => chain },
  { label: 'Project', cell: ({ project_id: id }) => names.projectName(id) },
  {
    label: 'Decided by',
    cell: ({ rule, code }) => (
      <>
        <RuleOf rule={rule} /> {code !== null && <span class="faint">{code}</span>}
      </>
    ),
  },
  { label: 'Uuid', narrow: true, cell: ({ uuid }) => <code class="faint">{shorten(uuid)}</code> },
]

/** How many there are beyond those that are shown. */
const Count = ({ query }: { readonly query: ReturnType<typeof queryOf> }) => {
  const { params } = useWorkplace()
  const { value } = useQuery(
    (signal) => call('GET /organizations/{organization}/decisions/count', { params, query, signal }),
    [params.organization, query],
  )
  if (value === null) return null
  return (
    <p class="soft" role="status">
      {value.exact ? '' : 'Over '}
      {countWord(value.count)} {value.count === 1 && value.exact ? 'decision' : 'decisions'}
    </p>
  )
}

export const Decisions = () => {
  const { params, path } = useWorkplace()
  const search = useSearch()
  const names = useNames()
  const [nowMs, setNowMs] = useState(Date.now)
  const query = queryOf(search.filters, nowMs)
  const [state, setState] = useState({ complete: true, up_to_date: true })
  const seen = useRef(false)
  const pages = usePages(
    async (cursor, signal) => {
      const answer = await call('GET /organizations/{organization}/decisions', {
        params,
        signal,
        query: { ...query, cursor, limit: PAGE_DECISIONS },
      })
      seen.current ||= answer.data.length > 0
      setState({ complete: answer.complete, up_to_date: answer.up_to_date })
      return answer
    },
    [params.organization, query],
  )
  const { items, more, loading, loadMore } = pages
  const none = items !== null && items.length === 0
  const wrongField = none || items === null ? fieldProblemOf(pages.error) : null
  const refresh = (): void => {
    setNowMs(Date.now())
    pages.reload()
  }

  return (
    <Page
      wide
      title="Decisions"
      lead="Every verdict that was ever given, from the log that each signature is written to first."
      actions={
        <>
          <Button icon="turn" busy={loading && items !== null} onClick={refresh}>
            Refresh
          </Button>
          <ExportMenu query={query} />
        </>
      }
    >
      <Filters search={search} names={names} error={wrongField === null ? null : pages.error} />
      <ExportProgress />
      {!state.up_to_date && (
        <Notice title="The search is behind the log">
          <p>
            Decisions of the last moments are signed and written, but not all of them can be found yet. The search
            catches up by itself.
          </p>
        </Notice>
      )}
      {wrongField === null && (
        <Card flush>
          {items !== null && !none && (
            <div class="card-note count-line">
              <Count query={query} />
            </div>
          )}
          {none && more ? (
            <Empty
              icon="clock"
              title="Nothing among the newest decisions"
              actions={
                <Button busy={loading} onClick={loadMore}>
                  Search on
                </Button>
              }
            >
              <p>The search stopped here to stay quick. Older decisions were not looked at yet.</p>
            </Empty>
          ) : (
            <>
              <PagedTable
                caption="Decisions, newest first"
                columns={columnsFor(names)}
                pages={pages}
                rowKey={({ uuid }) => uuid}
                href={({ uuid }) => path(`/decisions/${uuid}`)}
                empty={
                  search.narrowed || seen.current ? (
                    <Empty
                      icon="search"
                      title="Nothing was decided like that"
                      actions={<Button onClick={search.clear}>Show all decisions</Button>}
                    >
                      <p>No decision in the log is as the search asks for.</p>
                    </Empty>
                  ) : (
                    <FirstDecision verificationHash={names.firstHash} known={names.known} />
                  )
                }
              />
              {!state.complete && items !== null && !none && (
                <p class="card-note soft">
                  The search stopped here to stay quick: “Show more” goes on with what is older.
                </p>
              )}
            </>
          )}
        </Card>
      )}
    </Page>
  )
}

/** Where nothing was ever decided: a command that changes it. */
const FirstDecision = ({ verificationHash, known }: { verificationHash: string | null; known: boolean }) => {
  const { path } = useWorkplace()
  return (
    <>
      <Empty
        icon="decisions"
        title="Nothing was decided yet"
        actions={
          known && verificationHash === null && <ButtonLink href={path('/projects')}>Make the first project</ButtonLink>
        }
      >
        <p>
          Each time your backend asks for an attestation, a policy decides, and the decision is here within a second:
          what it was decided on, by which rule, what was signed, and its place in the log.
        </p>
      </Empty>
      {verificationHash !== null && (
        <div class="card-note">
          <TryIt verificationHash={verificationHash} />
        </div>
      )}
    </>
  )
}
