// Typed values next to the matching documents. Every read is in the audit log, so nothing is read in advance.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { EvidenceDocument, SessionDetail } from '../api/types.ts'
import { Button } from '../ui/button.tsx'
import { Card, Empty, Facts, Loading } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'
import { absoluteTime } from '../ui/relative-time.ts'
import { ageOf } from './identity.tsx'
import { countryWord, inOrder, partWord } from './labels.ts'
import type { Fields, OpenedEvidence } from './use-evidence.ts'
import { isPicture } from './use-picture.ts'
import { Viewer } from './viewer.tsx'

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

interface EvidenceProps {
  readonly session: SessionDetail
  readonly evidence: OpenedEvidence
}

const EvidenceShown = ({ session, evidence }: EvidenceProps) => {
  const { list, fields } = evidence
  if (list.value === null) {
    return list.error === null ? <Loading /> : <Problem error={list.error} retry={list.reload} />
  }
  const { documents, missing } = list.value
  const erased = session.events.findLast(({ kind }) => kind === 'evidence-erased')
  if (documents.length === 0 && list.value.fields.length === 0) {
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

export const Evidence = ({ session, evidence }: EvidenceProps) => (
  <Card title="Evidence" text={evidence.isOpen ? undefined : 'Each view is recorded in the audit log.'}>
    {evidence.isOpen ? (
      <EvidenceShown session={session} evidence={evidence} />
    ) : (
      <div>
        <Button icon="search" onClick={evidence.open}>
          Show evidence
        </Button>
      </div>
    )}
  </Card>
)
