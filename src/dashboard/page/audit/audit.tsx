import type { ComponentChildren } from 'preact'
import { useContext, useState } from 'preact/hooks'
import { counted } from '../../../lib/counted.ts'
import { addressFor, call } from '../api/client.ts'
import type { AuditEntry, AuditVerification } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { type Pages, useList } from '../data/use-pages.ts'
import { useQuery } from '../data/use-query.ts'
import { navigate, PlaceContext, useSearchParam } from '../router.ts'
import { useWorkplace } from '../shell/session.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { CodeBlock, Copyable } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { Card, Empty, Facts, Page } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'
import { PagedTable, time } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { startOf } from './day.ts'
import { describeDetail } from './detail.ts'
import { Overridden } from './overridden.tsx'

const NAMES = ['since', 'until', 'action', 'actor', 'subject'] as const
type Name = (typeof NAMES)[number]
const HINTS: Readonly<Partial<Record<Name, string>>> = {
  action: 'key. or key.revoke',
  actor: 'Email, user:… or key:…',
  subject: 'ID or name',
}
const LABELS: Readonly<Record<Name, string>> = {
  since: 'From',
  until: 'To',
  action: 'Action',
  actor: 'Actor',
  subject: 'Subject',
}

/** Actions match by prefix, other filters exactly. */
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

/** Converts days in the browser’s time zone, both inclusive, to times. */
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

const originOf = ({ actor, address }: AuditEntry): string => (actor === 'command-line' ? 'Command line' : address)

const Entry = ({ entry, onClose }: { readonly entry: AuditEntry; readonly onClose: () => void }) => (
  <Dialog title={entry.action} onClose={onClose} wide>
    <Facts
      items={[
        ['Time', <Time key="at" at={entry.at} full />],
        ['Actor', `${entry.actor_name === '' ? entry.actor : `${entry.actor_name} (${entry.actor})`}`],
        ['Source', originOf(entry) || '–'],
        [
          'Subject',
          <span key="subject">
            {entry.subject_name !== null && `${entry.subject_name} `}
            <Copyable text={entry.subject} label="subject" />
          </span>,
        ],
        ['Request', <Copyable key="request" text={entry.request_id} label="request ID" />],
        ['Entry', String(entry.sequence)],
        ['Hash', <Copyable key="hash" text={entry.hash} label="hash" />],
        ['Previous hash', <Copyable key="previous" text={entry.previous_hash} label="previous hash" />],
      ]}
    />
    <Overridden detail={entry.detail} />
    <CodeBlock code={JSON.stringify(entry.detail, null, 2)} label="details" />
  </Dialog>
)

interface AuditOfProps {
  readonly title: string
  readonly lead: string
  readonly filters: Filters
  readonly pages: Pages<AuditEntry>
  /** Reads one entry by its number, which is in the URL so that the entry can be shared. */
  readonly read: (sequence: number, signal: AbortSignal) => Promise<{ readonly data: readonly AuditEntry[] }>
  readonly exportHref: (format: 'csv' | 'ndjson') => string
  readonly children?: ComponentChildren
}

const AuditOf = ({ title, lead, filters, pages, read, exportHref, children }: AuditOfProps) => {
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
    <Page
      title={title}
      lead={lead}
      actions={
        <>
          <ButtonLink icon="download" href={exportHref('csv')} download="">
            CSV
          </ButtonLink>
          <ButtonLink icon="download" href={exportHref('ndjson')} download="">
            JSON Lines
          </ButtonLink>
        </>
      }
    >
      {children}
      <FilterBar {...filters} />
      <Card flush>
        <PagedTable<AuditEntry>
          caption="Changes"
          pages={pages}
          rowKey={(entry) => String(entry.sequence)}
          href={hrefOf}
          columns={{
            Action: { narrow: true, cell: ({ action }) => action },
            Actor: { narrow: true, cell: ({ actor, actor_name: name }) => (name === '' ? actor : name) },
            Source: { narrow: true, cell: (entry) => <span class="soft">{originOf(entry)}</span> },
            Change: ({ detail, subject, subject_name: name }) => {
              const line = describeDetail(detail)
              return (
                <span class="cell-stack">
                  <Overridden detail={detail} />
                  {!line.includes(name ?? subject) && <span>{name ?? subject}</span>}
                  <span class="soft">{line}</span>
                </span>
              )
            },
            Time: time('at'),
          }}
          empty={
            <Empty icon="audit" title={filters.filtered ? 'No matching changes' : 'No changes'}>
              <p>
                {filters.filtered
                  ? 'Actions match by prefix (“key.”). All other filters match exactly.'
                  : 'All changes are recorded here.'}
              </p>
            </Empty>
          }
        />
        <Problem error={named.error} />
        {shown !== undefined && <Entry entry={shown} onClose={() => setSequence('')} />}
      </Card>
    </Page>
  )
}

export const Audit = () => {
  const { params } = useWorkplace()
  const filters = useFilters()
  const query = queryOf(filters.values)
  return (
    <AuditOf
      title="Audit log"
      lead="All changes in this organization. Entries can’t be changed or removed."
      filters={filters}
      pages={useList('GET /organizations/{organization}/audit', { params, query })}
      read={(sequence, signal) =>
        call('GET /organizations/{organization}/audit', { params, query: { sequence }, signal })
      }
      exportHref={(format) =>
        addressFor('GET /organizations/{organization}/audit/export', { params, query: { format, ...query } })
      }
    />
  )
}

const Verify = () => {
  const [result, setResult] = useState<AuditVerification | null>(null)
  const action = useAction(async () => setResult(await call('GET /audit/verify')))
  return (
    <Card
      title="Verification"
      text="Each entry contains the hash of the previous entry, so a changed or removed entry breaks the chain."
      actions={
        <Button small icon="approve" busy={action.busy} onClick={() => action.run()}>
          Verify chain
        </Button>
      }
    >
      <Problem error={action.failure} />
      {result !== null &&
        (result.ok ? (
          <Notice tone="good" title={`The chain is intact: ${counted(result.entries, 'entry', 'entries')}`}>
            <p>Store this hash elsewhere to prove later that no entry up to this one was changed.</p>
            <Copyable text={result.head_hash} label="head hash" />
          </Notice>
        ) : (
          <Notice
            tone="bad"
            title={
              result.broken_at === null
                ? 'The log was truncated, restored or rewritten'
                : `The chain is broken at entry ${result.broken_at}`
            }
            urgent
          >
            {result.broken_at !== null && (
              <p>This entry or the previous one was changed. Compare the log with a backup.</p>
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
  const query = queryOf(filters.values)
  return (
    <AuditOf
      title="Deployment audit"
      lead="All changes in the deployment and its organizations."
      filters={filters}
      pages={useList('GET /audit', { query })}
      read={(sequence, signal) => call('GET /audit', { query: { sequence }, signal })}
      exportHref={(format) => addressFor('GET /audit/export', { query: { format, ...query } })}
    >
      <Verify />
    </AuditOf>
  )
}
