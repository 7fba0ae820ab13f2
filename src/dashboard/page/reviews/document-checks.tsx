// What the service found by itself: each check with its outcome, and what was typed beside what the document says. Checks
// decide nothing; every look at what was read is in the audit log.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { DocumentCheck, SessionDetail } from '../api/types.ts'
import { useQuery, useRead } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'
import { Button } from '../ui/button.tsx'
import { Badge, Card } from '../ui/parts.tsx'
import { Problem, type Tone } from '../ui/problem.tsx'
import { Table } from '../ui/table.tsx'
import { countryWord } from './labels.ts'
import { useInterval } from './use-interval.ts'

const LOOK_AGAIN_MS = 2_000

const OUTCOME_WORDS: Readonly<Record<DocumentCheck['outcome'], string>> = {
  passed: 'Passed',
  look: 'Look here',
  failed: 'Failed',
  unreadable: 'Unreadable',
  'not-done': 'Not done',
}
const OUTCOME_TONES: Readonly<Record<DocumentCheck['outcome'], Tone | 'plain'>> = {
  passed: 'good',
  look: 'warn',
  failed: 'bad',
  unreadable: 'plain',
  'not-done': 'plain',
}

const SEVEREST_FIRST: readonly DocumentCheck['outcome'][] = ['failed', 'look', 'unreadable', 'not-done']

/** What is compared, and what each outcome but `passed` means. */
const CHECKS: Readonly<Record<string, { readonly label: string; readonly [outcome: string]: string }>> = {
  document: { label: 'Document', 'not-done': 'It could not be checked. That is our error, not the person’s.' },
  'document.zone': {
    label: 'Machine-readable zone',
    look: 'The documents name different numbers.',
    unreadable: 'No picture shows a zone that can be read with certainty. That says nothing about the person.',
    'not-done': 'There is no picture to read: a PDF is looked at by you.',
  },
  'document.name': {
    label: 'Name on the document',
    look: 'Similar but not the same, or typed in another script.',
    failed: 'Another name was typed.',
  },
  'document.birth-date': {
    label: 'Date of birth',
    look: 'The document leaves out the month or the day.',
    failed: 'Another date was typed.',
  },
  'document.country': { label: 'Country', look: 'The document is of another country than the address.' },
  'document.expiry': { label: 'Validity', failed: 'The document has expired.' },
  'document.number': { label: 'Same document', look: 'Someone else handed in this document.' },
  person: { label: 'Person', 'not-done': 'It could not be checked. That is our error, not the person’s.' },
  'person.age': { label: 'Age' },
  'person.name': { label: 'Same person', look: 'Another identity has this name and date of birth.' },
  'person.address': { label: 'Country of the address', look: 'It was handed in from another country than was typed.' },
  'person.portrait': {
    label: 'Same portrait',
    look: 'Another identity has this picture.',
    unreadable: 'The picture could not be compared.',
  },
  lists: { label: 'Sanctions lists', 'not-done': 'It could not be checked. That is our error, not the person’s.' },
  'lists.names': {
    label: 'Sanctions lists',
    look: 'A listed name is similar: clear or confirm each hit above.',
    failed: 'A hit was confirmed.',
  },
  'wallets.lists': {
    label: 'Wallets on lists',
    look: 'A wallet is on a list: clear or confirm each hit above.',
    failed: 'A hit was confirmed.',
    'not-done': 'It could not be checked. That is our error, not the person’s.',
  },
  'wallets.screeners': {
    label: 'Screeners',
    'not-done': 'They could not be asked. That is our error, not the person’s.',
  },
}

const SCREENERS = 'wallets.screeners.'

const wordsOf = (check: DocumentCheck): { readonly label: string; readonly text: string } => {
  const { check: name, outcome, minimum_age: minimum, problem } = check
  const words = CHECKS[name.startsWith(SCREENERS) ? 'wallets.lists' : name]
  const label = name.startsWith(SCREENERS) ? `Wallets by ${name.slice(SCREENERS.length)}` : (words?.label ?? name)
  if (problem !== null) return { label, text: `Not done: ${problem}.` }
  if (name === 'person.age' && outcome !== 'passed')
    return { label, text: `Younger than ${minimum} by the date that was typed.` }
  if (name.startsWith(SCREENERS) && outcome === 'look')
    return { label, text: 'A wallet is flagged: clear or confirm each hit above.' }
  return { label, text: words?.[outcome] ?? '' }
}

const CheckText = ({ check }: { readonly check: DocumentCheck }) => {
  const { path } = useWorkplace()
  return (
    <>
      {wordsOf(check).text}
      {check.sessions.map((id) => (
        <span key={id}>
          {' '}
          <a href={path(`/reviews/${id}`)}>Session {id.slice(-8)}</a>
        </span>
      ))}
    </>
  )
}

interface Compared {
  readonly label: string
  readonly check: string
  readonly typed: string | null
  readonly read: string | null
}

/** Two readings, each in the audit log. */
const SideBySide = ({
  session,
  checks,
}: {
  readonly session: SessionDetail
  readonly checks: readonly DocumentCheck[]
}) => {
  const { params } = useWorkplace()
  const path = { ...params, session: session.id }
  const { value, error, reload } = useQuery(
    async (signal) => ({
      typed: await call('POST /organizations/{organization}/sessions/{session}/evidence/fields', {
        params: path,
        signal,
      }),
      read: await call('POST /organizations/{organization}/sessions/{session}/evidence/zone', { params: path, signal }),
    }),
    [path],
  )
  if (value === null) return <Problem error={error} retry={reload} />
  const { typed, read } = value
  const rows: readonly Compared[] = [
    { label: 'Name', check: 'document.name', typed: typed.full_name, read: `${read.surname}, ${read.given_names}` },
    { label: 'Date of birth', check: 'document.birth-date', typed: typed.birth_date, read: read.birth_date },
    {
      label: 'Country',
      check: 'document.country',
      typed: typed.country,
      read: [...new Set([read.nationality, read.issuer])].join(', issued by '),
    },
    { label: 'Valid until', check: 'document.expiry', typed: null, read: read.expiry_date },
    { label: 'Number', check: 'document.number', typed: null, read: read.number },
  ]
  const outcomeOf = (row: Compared): ComponentChildren => {
    const outcome = checks.find(({ check }) => check === row.check)?.outcome
    if (outcome === undefined) return ''
    return <Badge tone={OUTCOME_TONES[outcome]}>{outcome === 'failed' ? 'Differs' : OUTCOME_WORDS[outcome]}</Badge>
  }
  return (
    <Table
      caption="What was typed beside what the document says"
      rows={rows}
      rowKey={({ label }) => label}
      columns={{
        What: ({ label }) => label,
        Typed: (row) => row.typed ?? <span class="faint">not asked for</span>,
        'On the document': (row) => row.read ?? <span class="faint">left out</span>,
        Compared: { cell: outcomeOf, narrow: true },
      }}
    />
  )
}

interface DocumentChecksProps {
  readonly session: SessionDetail
  /** Rises when a hit was cleared or confirmed here: outcomes follow from hits. */
  readonly decidedHits: number
}

export const DocumentChecks = ({ session, decidedHits }: DocumentChecksProps) => {
  const { params } = useWorkplace()
  const [open, setOpen] = useState(session.status === 'submitted')
  const path = { ...params, session: session.id }
  const { value, error, reload } = useRead(
    'GET /organizations/{organization}/sessions/{session}/checks/documents',
    {
      params: path,
    },
    [session.sequence, decidedHits],
  )
  const waiting = value?.waiting === true
  useInterval(LOOK_AGAIN_MS, () => {
    if (waiting) reload()
  })
  if (value === null) return <Problem error={error} retry={reload} />
  const { checks } = value
  const needsLook = SEVEREST_FIRST.flatMap((outcome) => checks.filter((check) => check.outcome === outcome))
  const passed = checks.filter(({ outcome }) => outcome === 'passed').map((check) => wordsOf(check).label)
  if (checks.length === 0 && !waiting) return null
  const wasRead = checks.some(
    ({ check, outcome }) => check === 'document.zone' && (outcome === 'passed' || outcome === 'look'),
  )
  return (
    <Card title="Checks" text="Made by the service. By themselves they decide nothing.">
      {waiting && <p class="soft">They are being made.</p>}
      {needsLook.length > 0 && (
        <Table
          caption="Checks that need a look"
          rows={needsLook}
          rowKey={({ check }) => check}
          columns={{
            Check: (check) => wordsOf(check).label,
            Outcome: {
              cell: ({ outcome }) => <Badge tone={OUTCOME_TONES[outcome]}>{OUTCOME_WORDS[outcome]}</Badge>,
              narrow: true,
            },
            Why: (check) => <CheckText check={check} />,
          }}
        />
      )}
      {passed.length > 0 && <p class="soft">Passed: {passed.join(', ')}.</p>}
      {value.address_country !== null && <p class="soft">Handed in from {countryWord(value.address_country)}.</p>}
      {wasRead &&
        (open ? (
          <SideBySide session={session} checks={checks} />
        ) : (
          <div>
            <Button icon="search" onClick={() => setOpen(true)}>
              Compare side by side
            </Button>
          </div>
        ))}
    </Card>
  )
}
