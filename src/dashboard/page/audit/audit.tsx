// Who changed what: an organization’s changes, or all of the deployment, newest first, in a chain of hashes.
import { useContext, useState } from 'preact/hooks'
import { counted } from '../../../lib/counted.ts'
import { addressFor, call } from '../api/client.ts'
import type { AuditEntry, AuditVerification } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { type Pages, usePages } from '../data/use-pages.ts'
import { useQuery } from '../data/use-query.ts'
import { navigate, PlaceContext, useSearchParam } from '../router.ts'
import { useWorkplace } from '../shell/session.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { CodeBlock, Copyable } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { Card, Empty, Facts, Page } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'
import { PagedTable } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { startOf } from './day.ts'
import { describeDetail } from './detail.ts'
import { Overridden } from './overridden.tsx'

const NAMES = ['since', 'until', 'action', 'actor', 'subject'] as const
type Name = (typeof NAMES)[number]
const HINTS: Readonly<Partial<Record<Name, string>>> = {
  action: 'key. or key.revoke',
  actor: 'E-mail, user:… or key:…',
  subject: 'Id or name',
}
const LABELS: Readonly<Record<Name, string>> = {
  since: 'From',
  until: 'To',
  action: 'Action',
  actor: 'By',
  subject: 'Of',
}

/** Filters in the address, sent when they are complete: an action matches by how it begins, the others as a whole. */
const useFilters = () => {
  const { path, search } = useContext(PlaceContext)
  const parameters = new URLSearchParams(search)
  const values = Object.fromEntries(NAMES.map((name) => [name, parameters.get(name) ?? ''])) as Record<Name, string>
  return {
    values,
    filtered: NAMES.some((name) => values[name] !== ''),
    set: (next: Readonly<Partial<Record<Name, string>>>): void => {
      const given = new URLSearchParams(
        NAMES.flatMap((name) => (next[name]?.trim() ? [[name, next[name].trim()]] : [])),
      )
      navigate(given.size === 0 ? path : `${path}?${given}`, { replace: true })
    },
  }
}

type Filters = ReturnType<typeof useFilters>

/** Days as they are here; both are meant to their end. */
const queryOf = ({ since, until, ...rest }: Filters['values']) => ({
  ...rest,
  since: startOf(since, 0),
  until: startOf(until, 1),
})

const FilterBar = ({ values, filtered, set }: Filters) => {
  const [typed, setTyped] = useState<Readonly<Partial<Record<Name, string>>>>(values)
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault()
        set(typed)
      }}
    >
      {NAMES.map((name) => (
        <TextField
          key={name}
          label={LABELS[name]}
          type={name === 'since' || name === 'until' ? 'date' : 'text'}
          value={typed[name] ?? ''}
          onValue={(value) => setTyped({ ...typed, [name]: value })}
          input={{
            placeholder: HINTS[name] ?? '',
            maxLength: 200,
            ...(name === 'action' ? { 'data-search': true } : {}),
          }}
        />
      ))}
      <Button submit icon="search">
        Filter
      </Button>
      {filtered && (
        <Button
          kind="quiet"
          onClick={() => {
            setTyped({})
            set({})
          }}
        >
          Show all
        </Button>
      )}
    </form>
  )
}

/** As filtered. Each is an entry in the log. */
const Downloads = ({ hrefOf }: { readonly hrefOf: (format: 'csv' | 'ndjson') => string }) => (
  <>
    <ButtonLink icon="download" href={hrefOf('csv')} download="">
      CSV
    </ButtonLink>
    <ButtonLink icon="download" href={hrefOf('ndjson')} download="">
      JSON lines
    </ButtonLink>
  </>
)

/** Where a change came from, for people; empty where that is not known. */
const originOf = ({ actor, address }: AuditEntry): string => (actor === 'command-line' ? 'Command line' : address)

const Entry = ({ entry, onClose }: { readonly entry: AuditEntry; readonly onClose: () => void }) => (
  <Dialog title={entry.action} onClose={onClose} wide>
    <Facts
      items={[
        ['When', <Time key="at" at={entry.at} full />],
        ['By', `${entry.actor_name === '' ? entry.actor : `${entry.actor_name} (${entry.actor})`}`],
        ['From', originOf(entry) || '–'],
        [
          'Of',
          <span key="subject">
            {entry.subject_name !== null && `${entry.subject_name} `}
            <Copyable text={entry.subject} label="subject" />
          </span>,
        ],
        ['Request', <Copyable key="request" text={entry.request_id} label="request id" />],
        ['Entry', String(entry.sequence)],
        ['Hash', <Copyable key="hash" text={entry.hash} label="hash" />],
        ['Hash before', <Copyable key="previous" text={entry.previous_hash} label="hash before" />],
      ]}
    />
    <Overridden detail={entry.detail} />
    <CodeBlock code={JSON.stringify(entry.detail, null, 2)} label="the details" />
  </Dialog>
)

interface EntriesProps {
  readonly pages: Pages<AuditEntry>
  readonly filtered: boolean
  /** One entry, by its number: the address names it, so that it can be sent to a colleague. */
  readonly read: (sequence: number, signal: AbortSignal) => Promise<{ readonly data: readonly AuditEntry[] }>
}

const Entries = ({ pages, filtered, read }: EntriesProps) => {
  const { path, search } = useContext(PlaceContext)
  const [sequence, setSequence] = useSearchParam('entry')
  const named = useQuery(async (signal) => (sequence === '' ? null : await read(Number(sequence), signal)), [sequence])
  const shown = sequence === '' ? undefined : named.value?.data[0]
  const hrefOf = (entry: AuditEntry): string => {
    const parameters = new URLSearchParams(search)
    parameters.set('entry', String(entry.sequence))
    return `${path}?${parameters}`
  }
  return (
    <Card flush>
      <PagedTable<AuditEntry>
        caption="Changes"
        pages={pages}
        rowKey={(entry) => String(entry.sequence)}
        href={hrefOf}
        columns={{
          What: { narrow: true, cell: ({ action }) => action },
          By: { narrow: true, cell: ({ actor, actor_name: name }) => (name === '' ? actor : name) },
          From: { narrow: true, cell: (entry) => <span class="soft">{originOf(entry)}</span> },
          Change: ({ detail, subject, subject_name: name }) => {
            const line = describeDetail(detail)
            return (
              <span class="cell-stack">
                <Overridden detail={detail} />
                {name !== null && !line.includes(name) && <span>{name}</span>}
                <span class="soft">{line || (name === null && subject)}</span>
              </span>
            )
          },
          When: { narrow: true, cell: ({ at }) => <Time at={at} /> },
        }}
        empty={
          <Empty icon="audit" title={filtered ? 'No change matches' : 'No changes yet'}>
            <p>
              {filtered
                ? 'An action is found by its beginning (“key.”), everything else only in full.'
                : 'Everything that changes is written here.'}
            </p>
          </Empty>
        }
      />
      <Problem error={named.error} />
      {shown !== undefined && <Entry entry={shown} onClose={() => setSequence('')} />}
    </Card>
  )
}

export const Audit = () => {
  const { params } = useWorkplace()
  const filters = useFilters()
  const { values } = filters
  const pages = usePages(
    (cursor, signal) =>
      call('GET /organizations/{organization}/audit', { params, query: { cursor, ...queryOf(values) }, signal }),
    [params.organization, values],
  )
  return (
    <Page
      title="Audit log"
      lead="Every change in this organization, by whom and when. Nothing in it can be changed or removed."
      actions={
        <Downloads
          hrefOf={(format) =>
            addressFor('GET /organizations/{organization}/audit/export', {
              params,
              query: { format, ...queryOf(values) },
            })
          }
        />
      }
    >
      <FilterBar {...filters} />
      <Entries
        pages={pages}
        filtered={filters.filtered}
        read={(sequence, signal) =>
          call('GET /organizations/{organization}/audit', { params, query: { sequence }, signal })
        }
      />
    </Page>
  )
}

const Verify = () => {
  const [result, setResult] = useState<AuditVerification | null>(null)
  const action = useAction(async () => setResult(await call('GET /audit/verify')))
  return (
    <Card
      title="Proof"
      text="Each entry holds the hash of the one before it: one that was changed or taken out breaks the chain."
      actions={
        <Button small icon="approve" busy={action.busy} onClick={() => action.run()}>
          Verify the chain
        </Button>
      }
    >
      <Problem error={action.failure} />
      {result !== null &&
        (result.ok ? (
          <Notice tone="good" title={`The chain fits: ${counted(result.entries, 'entry', 'entries')}`}>
            <p>Keep this hash elsewhere: it proves later that nothing up to here was changed.</p>
            <Copyable text={result.head_hash} label="head hash" />
          </Notice>
        ) : (
          <Notice
            tone="bad"
            title={
              result.broken_at === null
                ? 'The log was cut, set back or rewritten'
                : `The chain is broken at entry ${result.broken_at}`
            }
            urgent
          >
            {result.broken_at !== null && (
              <p>This entry, or the one before it, is not as it was written. Compare with a backup.</p>
            )}
            {result.problems.map((problem) => (
              <p key={problem}>{problem}</p>
            ))}
          </Notice>
        ))}
    </Card>
  )
}

export const DeploymentAudit = () => {
  const filters = useFilters()
  const { values } = filters
  const pages = usePages(
    (cursor, signal) => call('GET /audit', { query: { cursor, ...queryOf(values) }, signal }),
    [values],
  )
  return (
    <Page
      title="Deployment audit"
      lead="Every change in the deployment, in all organizations."
      actions={
        <Downloads hrefOf={(format) => addressFor('GET /audit/export', { query: { format, ...queryOf(values) } })} />
      }
    >
      <Verify />
      <FilterBar {...filters} />
      <Entries
        pages={pages}
        filtered={filters.filtered}
        read={(sequence, signal) => call('GET /audit', { query: { sequence }, signal })}
      />
    </Page>
  )
}
