// Submitted evidence: typed values next to the matching documents, two at a time. Every read is in the audit log, so
// nothing is read in advance.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { counted } from '../../../lib/counted.ts'
import { type AnswerOf, call } from '../api/client.ts'
import type { EvidenceDocument, SessionDetail } from '../api/types.ts'
import { type Query, useQuery } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'
import { Button } from '../ui/button.tsx'
import { Card, Empty, Facts, Loading } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'
import { absoluteTime } from '../ui/relative-time.ts'
import { countryWord, inOrder, partWord } from './labels.ts'
import { isPicture } from './use-picture.ts'
import { Viewer } from './viewer.tsx'

type Fields = AnswerOf<'POST /organizations/{organization}/sessions/{session}/evidence/fields'>

const YEAR_MS = 31_557_600_000
const ageOf = (birthDate: string): string => {
  const years = Math.floor((Date.now() - Date.parse(birthDate)) / YEAR_MS)
  return Number.isNaN(years) ? birthDate : `${birthDate} (${counted(years, 'year', 'years')})`
}

const itemsOf = (fields: Fields): readonly (readonly [string, ComponentChildren])[] => {
  const given: readonly (readonly [string, string | null])[] = [
    ['Full name', fields.full_name],
    ['Date of birth', fields.birth_date === null ? null : ageOf(fields.birth_date)],
    ['Registered name', fields.registered_name],
    ['Registration number', fields.registration_number],
    ['Country', fields.country === null ? null : countryWord(fields.country)],
  ]
  return [
    ...given.filter((item): item is readonly [string, string] => item[1] !== null),
    ...(fields.owners.length === 0
      ? []
      : [
          [
            'Owners',
            <ul key="owners">
              {fields.owners.map(({ name, share_percent: share }, index) => (
                <li key={index}>
                  {name} <span class="faint">{share} %</span>
                </li>
              ))}
            </ul>,
          ] as const,
        ]),
  ]
}

/** Returns the documents in the order of review: the document next to the portrait, images before other files. */
const layOut = (documents: readonly EvidenceDocument[]): readonly string[] => {
  const ordered = inOrder(documents.map(({ kind }) => kind)).flatMap((kind) => {
    const same = documents.filter((document) => document.kind === kind)
    return [
      ...same.filter(({ media_type: type }) => isPicture(type)),
      ...same.filter(({ media_type: type }) => !isPicture(type)),
    ]
  })
  const [first] = ordered
  const second = ordered.find(({ kind }) => kind !== first?.kind) ?? ordered[1]
  return [first?.id, second?.id].filter((id) => id !== undefined)
}

const Pane = (props: {
  readonly sessionId: string
  readonly documents: readonly EvidenceDocument[]
  readonly initial: string
  readonly label: string
}) => {
  const { sessionId, documents, initial, label } = props
  const [shown, setShown] = useState(initial)
  const document = documents.find(({ id }) => id === shown) ?? documents[0]
  if (document === undefined) return null
  const numbered = (one: EvidenceDocument): string => {
    const same = documents.filter(({ kind }) => kind === one.kind)
    return same.length === 1 ? partWord(one.kind) : `${partWord(one.kind)} ${same.indexOf(one) + 1}`
  }
  return (
    <div class="pane">
      <header class="pane-head">
        {documents.length > 1 ? (
          <select aria-label={label} value={document.id} onChange={(event) => setShown(event.currentTarget.value)}>
            {documents.map((one) => (
              <option key={one.id} value={one.id}>
                {numbered(one)}
              </option>
            ))}
          </select>
        ) : (
          <h3>{partWord(document.kind)}</h3>
        )}
        <span class="faint pane-file" title={`${document.file_name}, ${absoluteTime(document.created_at)}`}>
          {document.file_name}
        </span>
      </header>
      <Viewer key={document.id} sessionId={sessionId} document={document} />
    </div>
  )
}

export type EvidenceList = AnswerOf<'GET /organizations/{organization}/sessions/{session}/evidence'>

interface EvidenceProps {
  readonly session: SessionDetail
  /** Overview of the evidence, without typed values. */
  readonly list: Query<EvidenceList>
}

const EvidenceShown = ({ session, list }: EvidenceProps) => {
  const { params } = useWorkplace()
  const path = { ...params, session: session.id }
  const hasFields = (list.value?.fields.length ?? 0) > 0
  const fields = useQuery(
    async (signal) =>
      hasFields
        ? await call('POST /organizations/{organization}/sessions/{session}/evidence/fields', { params: path, signal })
        : null,
    [path, hasFields],
  )
  if (list.value === null) {
    return list.error === null ? <Loading /> : <Problem error={list.error} retry={list.reload} />
  }
  const { documents, missing } = list.value
  const erased = session.events.findLast(({ kind }) => kind === 'evidence-erased')
  if (documents.length === 0 && !hasFields) {
    return erased === undefined ? (
      <Empty icon="project" title="No evidence submitted">
        <p>
          {session.environment === 'test'
            ? 'The sandbox advanced this test session without evidence.'
            : 'The person has not submitted anything yet.'}
        </p>
      </Empty>
    ) : (
      <Notice title="The evidence was erased">
        <p>
          Its keys were destroyed on {absoluteTime(erased.at)}. The decision and the history remain. The session can’t
          be completed until evidence is submitted again.
        </p>
      </Notice>
    )
  }
  const initial = layOut(documents)
  return (
    <div class="evidence">
      {missing.length > 0 && (
        <Notice tone="warn" title="Required evidence is missing">
          <p>Missing: {missing.map(partWord).join(', ')}.</p>
        </Notice>
      )}
      <Problem error={fields.error} retry={fields.reload} />
      {fields.value !== null && <Facts items={itemsOf(fields.value)} />}
      {initial.length > 0 && (
        <div class="panes">
          {initial.map((id, index) => (
            <Pane
              key={id}
              sessionId={session.id}
              documents={documents}
              initial={id}
              label={index === 0 ? 'Left document' : 'Right document'}
            />
          ))}
        </div>
      )}
    </div>
  )
}

/** Open at once if the session awaits a decision; otherwise on request. */
export const Evidence = ({ session, list }: EvidenceProps) => {
  const [open, setOpen] = useState(session.status === 'submitted')
  return (
    <Card title="Evidence" text={open ? undefined : 'Each view is recorded in the audit log.'}>
      {open ? (
        <EvidenceShown session={session} list={list} />
      ) : (
        <div>
          <Button icon="search" onClick={() => setOpen(true)}>
            Show evidence
          </Button>
        </div>
      )}
    </Card>
  )
}
