import { useMessages } from '../language.ts'
import { Button, Field } from '../ui/parts.tsx'
import type { Problems } from './check.ts'
import { EMPTY_OWNER, type OwnerDraft } from './draft.ts'

const OWNERS_MAX = 20

interface OwnerFieldsProps {
  readonly owners: readonly OwnerDraft[]
  readonly problems: Problems
  readonly onChange: (owners: readonly OwnerDraft[]) => void
}

export const OwnerFields = ({ owners, problems, onChange }: OwnerFieldsProps) => {
  const { details, common } = useMessages()
  const replace = (index: number, change: Partial<OwnerDraft>): void =>
    onChange(owners.map((owner, at) => (at === index ? { ...owner, ...change } : owner)))
  const sum = owners.reduce((total, { share }) => total + (Number(share) || 0), 0)
  return (
    <fieldset class="owners">
      <legend>{details.owners}</legend>
      <p class="hint">{details.ownersHint}</p>
      {owners.map((owner, index) => (
        // Rows have no identity other than their index.
        <fieldset class="owner" key={index} aria-label={details.owner(index + 1)}>
          <Field id={`owner-name-${index}`} label={details.ownerName} error={problems.get(`owner-name-${index}`)}>
            {(attributes) => (
              <input
                {...attributes}
                type="text"
                autocomplete="off"
                value={owner.name}
                onInput={(event) => replace(index, { name: event.currentTarget.value })}
              />
            )}
          </Field>
          <Field id={`owner-share-${index}`} label={details.ownerShare} error={problems.get(`owner-share-${index}`)}>
            {(attributes) => (
              <input
                {...attributes}
                type="text"
                inputMode="numeric"
                maxLength={3}
                autocomplete="off"
                value={owner.share}
                onInput={(event) => replace(index, { share: event.currentTarget.value })}
              />
            )}
          </Field>
          {owners.length > 1 && (
            <Button
              kind="quiet"
              icon="trash"
              aria-label={details.removeOwner(index + 1)}
              onClick={() => onChange(owners.filter((_, at) => at !== index))}
            >
              {common.remove}
            </Button>
          )}
        </fieldset>
      ))}
      <div class="owners-foot">
        {owners.length < OWNERS_MAX && (
          <Button icon="plus" onClick={() => onChange([...owners, EMPTY_OWNER])}>
            {details.addOwner}
          </Button>
        )}
        <span class="muted" aria-live="polite">
          {details.sum(sum)}
        </span>
      </div>
    </fieldset>
  )
}
