// Decision search. The page reports an index behind the log, a search that stopped early, and missing decisions.
import { useRef, useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { fieldProblemOf } from '../api/errors.ts'
import { usePages } from '../data/use-pages.ts'
import { useRead } from '../data/use-query.ts'
import { useInterval } from '../reviews/use-interval.ts'
import { useWorkplace } from '../shell/session.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Card, Empty, Page } from '../ui/parts.tsx'
import { Notice } from '../ui/problem.tsx'
import { PagedTable } from '../ui/table.tsx'
import { columnsFor, rowsOf } from './columns.tsx'
import { ExportMenu, ExportProgress } from './export.tsx'
import { Filters } from './filters.tsx'
import { countWord } from './labels.tsx'
import { useNames } from './names.ts'
import { queryOf, useSearch } from './search.ts'

const PAGE_DECISIONS = 50
const FOLLOW_MS = 2_000

const Count = ({
  query,
  newest,
}: {
  readonly query: ReturnType<typeof queryOf>
  readonly newest: string | undefined
}) => {
  const { params } = useWorkplace()
  const { value } = useRead('GET /organizations/{organization}/decisions/count', { params, query }, newest)
  if (value === null) return null
  return (
    <p class="soft" role="status">
      {value.exact ? '' : 'Over '}
      {countWord(value.count)} {value.count === 1 && value.exact ? 'decision' : 'decisions'}
    </p>
  )
}

const TryIt = lazy(async () => (await import('../attest/try-it.tsx')).TryIt)

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
      return rowsOf(answer)
    },
    [params.organization, query],
  )
  const { items, more, loading, loadMore } = pages
  const none = items !== null && items.length === 0
  const problem = fieldProblemOf(pages.error)
  /** Whether a search field shows the error. */
  const isShown = problem?.field === 'wallet' || problem?.field === 'rule'
  const [follows, setFollows] = useState(false)
  // Reloads only until further pages are loaded, because a reload would remove them.
  useInterval(FOLLOW_MS, () => {
    if (follows && !loading && (items?.length ?? 0) <= PAGE_DECISIONS) pages.reload()
  })
  const refresh = (): void => {
    setNowMs(Date.now())
    pages.reload()
  }

  return (
    <Page
      title="Decisions"
      lead="All verdicts. Each is written to the log before its signature is sent."
      actions={
        <>
          <Button
            kind={follows ? 'primary' : 'secondary'}
            icon="pulse"
            aria-pressed={follows}
            onClick={() => setFollows(!follows)}
          >
            Follow
          </Button>
          <Button icon="turn" busy={loading && items !== null && !follows} onClick={refresh}>
            Refresh
          </Button>
          <ExportMenu query={query} />
        </>
      }
    >
      <Filters search={search} names={names} error={isShown ? pages.error : null} />
      <ExportProgress />
      {!state.up_to_date && (
        <Notice title="The search index is behind the log">
          <p>
            The newest decisions are signed and logged, but not all are indexed yet. The index catches up automatically.
          </p>
        </Notice>
      )}
      {(!isShown || items !== null) && (
        <Card flush>
          {items !== null && !none && (
            <div class="card-note count-line">
              <Count query={query} newest={items[0]?.uuid} />
            </div>
          )}
          {none && more ? (
            <Empty
              icon="clock"
              title="No matches among the newest decisions"
              actions={
                <Button busy={loading} onClick={loadMore}>
                  Continue search
                </Button>
              }
            >
              <p>The search stopped early to stay fast. Older decisions have not been searched yet.</p>
            </Empty>
          ) : (
            <>
              <PagedTable
                caption="Decisions, newest first"
                columns={columnsFor(names)}
                pages={isShown ? { ...pages, error: null } : pages}
                rowKey={({ uuid }) => uuid}
                href={({ uuid }) => path(`/decisions/${uuid}`)}
                empty={
                  search.narrowed || seen.current ? (
                    <Empty
                      icon="search"
                      title="No matching decisions"
                      actions={<Button onClick={search.clear}>Show all decisions</Button>}
                    >
                      <p>No decision in the log matches this search.</p>
                    </Empty>
                  ) : (
                    <FirstDecision project={names.firstProject} known={names.known} />
                  )
                }
              />
              {!state.complete && items !== null && (
                <p class="card-note soft">
                  {more
                    ? 'The search stopped early, or decisions of other nodes are unavailable. To search older decisions, select “Show more”.'
                    : 'Decisions are missing: the logs of other nodes have not been shipped, or their copies are unavailable.'}
                </p>
              )}
            </>
          )}
        </Card>
      )}
    </Page>
  )
}

const FirstDecision = ({ project, known }: { project: string | null; known: boolean }) => {
  const { path } = useWorkplace()
  return (
    <>
      <Empty
        icon="decisions"
        title="No decisions yet"
        actions={known && project === null && <ButtonLink href={path('/projects')}>Create a project</ButtonLink>}
      >
        <p>
          When your backend requests an attestation, a policy decides on the request. The decision appears here within a
          second, with its input, rule, signature and position in the log.
        </p>
      </Empty>
      {project !== null && (
        <div class="card-note">
          <TryIt project={project} />
        </div>
      )}
    </>
  )
}
