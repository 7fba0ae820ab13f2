// Who changed what: an organization’s changes, or all of the deployment, newest first, in a chain of hashes.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { AuditEntry, AuditVerification } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { type Pages, usePages } from '../data/use-pages.ts'
import { useSearchParam } from '../router.ts'
import { useWorkplace } from '../shell/session.ts'
import { Button } from '../ui/button.tsx'
import { Copyable } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { Card, Empty, Facts, Page } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'
import { PagedTable } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { describeDetail } from './detail.ts'
import { Overridden } from './overridden.tsx'

const NAMES = ['action', 'actor', 'subject'] as const
const HINTS = { action: 'key. or key.revoke', actor: 'user:…, key:…', subject: 'Id or name' } as const
const LABELS = { action: 'Action', actor: 'By', subject: 'Of' } as const

/** Filters in the address, sent when they are complete: an action matches by how it begins, the others as a whole. */
const useFilters = () => {
  const [action, setAction] = useSearchParam('action')
  const [actor, setActor] = useSearchParam('actor')
  const [subject, setSubject] = useSearchParam('subject')
  return {
    values: { action, actor, subject },
    set: { action: setAction, actor: setActor, subject: setSubject },
  }
}

type Filters = ReturnType<typeof useFilters>

const FilterBar = ({ values, set }: Filters) => {
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>(values)
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault()
        for (const name of NAMES) set[name](typed[name]?.trim() ?? '')
      }}
    >
      {NAMES.map((name) => (
        <TextField
          key={name}
          label={LABELS[name]}
          value={typed[name] ?? ''}
          onValue={(value) => setTyped({ ...typed, [name]: value })}
          input={{
            placeholder: HINTS[name],
            maxLength: name === 'subject' ? 200 : 100,
            ...(name === 'action' ? { 'data-search': true } : {}),
          }}
        />
      ))}
      <Button submit icon="search">
        Filter
      </Button>
      {NAMES.some((name) => values[name] !== '') && (
        <Button
          kind="quiet"
          onClick={() => {
            setTyped({})
            for (const name of NAMES) set[name]('')
          }}
        >
          Show all
        </Button>
      )}
    </form>
  )
}

/** Where a change came from, for people; empty where that is not known. */
const originOf = ({ actor, address }: AuditEntry): string => (actor === 'command-line' ? 'Command line' : address)

const Entry = ({ entry, onClose }: { readonly entry: AuditEntry; readonly onClose: () => void }) => (
  <Dialog title={entry.action} onClose={onClose} wide>
    <Facts
      items={[
        ['When', <Time key="at" at={entry.at} full />],
        ['By', `${entry.actor_name === '' ? entry.actor : `${entry.actor_name} (${entry.actor})`}`],
        ['From', originOf(entry) || '–'],
        ['Of', <Copyable key="subject" text={entry.subject} label="subject" />],
        ['Request', <Copyable key="request" text={entry.request_id} label="request id" />],
        ['Entry', String(entry.sequence)],
        ['Hash', <Copyable key="hash" text={entry.hash} label="hash" />],
        ['Hash before', <Copyable key="previous" text={entry.previous_hash} label="hash before" />],
      ]}
    />
    <Overridden detail={entry.detail} />
    <pre class="detail">
      <code>{JSON.stringify(entry.detail, null, 2)}</code>
    </pre>
  </Dialog>
)

const Entries = ({ pages, filtered }: { readonly pages: Pages<AuditEntry>; readonly filtered: boolean }) => {
  const [shown, setShown] = useState<AuditEntry | null>(null)
  return (
    <Card flush>
      <PagedTable<AuditEntry>
        caption="Changes"
        pages={pages}
        rowKey={({ sequence }) => String(sequence)}
        columns={[
          {
            label: 'What',
            narrow: true,
            cell: (entry) => (
              <button type="button" class="row-link" data-row onClick={() => setShown(entry)}>
                {entry.action}
              </button>
            ),
          },
          { label: 'By', narrow: true, cell: ({ actor, actor_name: name }) => (name === '' ? actor : name) },
          { label: 'From', narrow: true, cell: (entry) => <span class="soft">{originOf(entry)}</span> },
          {
            label: 'Change',
            cell: ({ detail, subject }) => (
              <span class="cell-stack">
                <Overridden detail={detail} />
                <span class="soft">{describeDetail(detail) || subject}</span>
              </span>
            ),
          },
          { label: 'When', narrow: true, cell: ({ at }) => <Time at={at} /> },
        ]}
        empty={
          <Empty icon="audit" title={filtered ? 'No change is like that' : 'No changes yet'}>
            <p>
              {filtered
                ? 'An action is found by how it begins (“key.”), the others as they are in full: an id.'
                : 'Everything that changes is written here.'}
            </p>
          </Empty>
        }
      />
      {shown !== null && <Entry entry={shown} onClose={() => setShown(null)} />}
    </Card>
  )
}

export const Audit = () => {
  const { params } = useWorkplace()
  const filters = useFilters()
  const { values } = filters
  const pages = usePages(
    (cursor, signal) =>
      call('GET /organizations/{organization}/audit', { params, query: { cursor, ...values }, signal }),
    [params.organization, values],
  )
  return (
    <Page
      title="Audit log"
      lead="Every change in this organization, by whom and when. Nothing in it can be changed or removed."
    >
      <FilterBar {...filters} />
      <Entries pages={pages} filtered={Object.values(values).some((value) => value !== '')} />
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
          <Notice tone="good" title={`All ${result.entries.toLocaleString('en')} entries fit`}>
            <p>Keep this hash elsewhere: it proves later that nothing up to here was changed.</p>
            <Copyable text={result.head_hash} label="head hash" />
          </Notice>
        ) : (
          <Notice tone="bad" title={`The chain is broken at entry ${result.broken_at}`} urgent>
            <p>This entry, or the one before it, is not as it was written. Compare with a backup.</p>
          </Notice>
        ))}
    </Card>
  )
}

export const DeploymentAudit = () => {
  const filters = useFilters()
  const { values } = filters
  const pages = usePages((cursor, signal) => call('GET /audit', { query: { cursor, ...values }, signal }), [values])
  return (
    <Page title="Deployment audit" lead="Every change in the deployment, in all organizations.">
      <Verify />
      <FilterBar {...filters} />
      <Entries pages={pages} filtered={Object.values(values).some((value) => value !== '')} />
    </Page>
  )
}
