// Selects the document for a trial: the editor's content or a revision.
import type { Revision } from '../api/types.ts'
import { SelectField } from '../ui/field.tsx'
import type { Draft } from './use-draft.ts'

const EDITOR = 'editor'

interface Subject {
  readonly source?: string
  readonly revision_id?: string
}

interface SubjectFieldProps {
  readonly value: string
  readonly onValue: (value: string) => void
  readonly revisions: readonly Revision[]
  readonly draft: Draft
}

const labelOf = ({ number, active, shadow }: Revision): string =>
  `Revision ${number}${active ? ' (live)' : shadow ? ' (shadow)' : ''}`

/** Defaults to an unsaved draft, otherwise to the newest revision. */
const chosenOf = (value: string, { changed }: Draft, revisions: readonly Revision[]): string => {
  if (value !== '') return value
  return changed ? EDITOR : (revisions[0]?.id ?? EDITOR)
}

export const subjectOf = (value: string, draft: Draft, revisions: readonly Revision[]): Subject => {
  const chosen = chosenOf(value, draft, revisions)
  return chosen === EDITOR ? { source: draft.text } : { revision_id: chosen }
}

export const SubjectField = ({ value, onValue, revisions, draft }: SubjectFieldProps) => (
  <SelectField
    label="Document"
    value={chosenOf(value, draft, revisions)}
    onValue={onValue}
    choices={[
      { value: EDITOR, label: draft.changed ? 'Editor content (not saved)' : 'Editor content' },
      ...revisions.map((revision) => ({ value: revision.id, label: labelOf(revision) })),
    ]}
  />
)
