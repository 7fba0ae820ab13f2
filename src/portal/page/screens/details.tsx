// The fields that the level requires, or that were sent back.
import type { RefObject } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { FieldName } from '../../../domain/requirements.ts'
import { checkDraft, type Problems } from '../details/check.ts'
import { DocumentFill } from '../details/document-fill.tsx'
import { type Draft, EMPTY_DRAFT, keepDraft, loadDraft, toDraft, toFields } from '../details/draft.ts'
import { OwnerFields } from '../details/owner-fields.tsx'
import { countries, monthNames } from '../format.ts'
import { useMessages } from '../language.ts'
import { problemText } from '../problem-text.ts'
import { partsOf, type StepProps } from '../steps.ts'
import { Icon } from '../ui/icons.tsx'
import { Field, Notice, Screen } from '../ui/parts.tsx'
import { StepActions } from '../ui/step-actions.tsx'

const FORM = 'details-form'
const NONE: Problems = new Map()

interface BirthDateProps {
  readonly draft: Pick<Draft, 'day' | 'month' | 'year'>
  readonly problem: string | undefined
  readonly onChange: (part: Partial<Draft>) => void
}

const BirthDate = ({ draft, problem, onChange }: BirthDateProps) => {
  const { details, locale } = useMessages()
  const months = useMemo(() => monthNames(locale), [locale])
  return (
    <fieldset class={`date${problem !== undefined ? ' field-wrong' : ''}`}>
      <legend>{details.birthDate}</legend>
      <div class="date-parts">
        <div class="field">
          <label for="birth-day">{details.day}</label>
          <input
            id="birth-day"
            type="text"
            inputMode="numeric"
            maxLength={2}
            autocomplete="bday-day"
            aria-invalid={problem !== undefined}
            aria-describedby={problem !== undefined ? 'birth-day-error' : undefined}
            value={draft.day}
            onInput={(event) => onChange({ day: event.currentTarget.value })}
          />
        </div>
        <div class="field">
          <label for="birth-month">{details.month}</label>
          <select
            id="birth-month"
            autocomplete="bday-month"
            value={draft.month}
            onChange={(event) => onChange({ month: event.currentTarget.value })}
          >
            <option value="">–</option>
            {months.map((month, index) => (
              <option key={month} value={String(index + 1)}>
                {month}
              </option>
            ))}
          </select>
        </div>
        <div class="field">
          <label for="birth-year">{details.year}</label>
          <input
            id="birth-year"
            type="text"
            inputMode="numeric"
            maxLength={4}
            autocomplete="bday-year"
            value={draft.year}
            onInput={(event) => onChange({ year: event.currentTarget.value })}
          />
        </div>
      </div>
      {problem !== undefined && (
        <p class="error" id="birth-day-error">
          <Icon name="alert" size={18} />
          {problem}
        </p>
      )}
    </fieldset>
  )
}

interface SummaryProps {
  readonly problems: Problems
  readonly place: RefObject<HTMLDivElement | null>
}

const Summary = ({ problems, place }: SummaryProps) => {
  const { details } = useMessages()
  return (
    <div class="summary" ref={place} tabIndex={-1} role="alert">
      <p class="notice-title">{details.problems(problems.size)}</p>
      <ul>
        {[...problems].map(([id, problem]) => (
          <li key={id}>
            <a
              href={`#${id}`}
              onClick={(event) => {
                event.preventDefault()
                document.getElementById(id)?.focus()
              }}
            >
              {problem}
            </a>
          </li>
        ))}
      </ul>
    </div>
  )
}

export const Details = ({ view, calls, apply, next, back }: StepProps) => {
  const messages = useMessages()
  const { details, locale, common } = messages
  const { sessionId, checkType } = view
  // Captured on opening, so that a corrected field stays visible.
  const [names] = useState(() => partsOf(view, 'details') as readonly FieldName[])
  const [draft, setDraft] = useState<Draft>(() => loadDraft(sessionId) ?? EMPTY_DRAFT)
  const [loading, setLoading] = useState(() => loadDraft(sessionId) === null && view.fields.length > 0)
  const [problems, setProblems] = useState<Problems>(NONE)
  const [failure, setFailure] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const summary = useRef<HTMLDivElement>(null)
  const countryList = useMemo(() => countries(locale), [locale])

  useEffect(() => {
    if (!loading) return
    calls
      .fields()
      .then(
        (fields) => setDraft(toDraft(fields)),
        (error: unknown) => setFailure(problemText(error, messages)),
      )
      .finally(() => setLoading(false))
  }, [loading, calls, messages])

  const change = (part: Partial<Draft>): void => {
    const changed = { ...draft, ...part }
    setDraft(changed)
    keepDraft(sessionId, changed)
    // Validates again while mistakes are corrected.
    if (problems.size > 0) setProblems(checkDraft(changed, names, new Date(), details))
  }

  const submit = async (): Promise<void> => {
    const found = checkDraft(draft, names, new Date(), details)
    setProblems(found)
    setFailure(null)
    if (found.size > 0) {
      requestAnimationFrame(() => summary.current?.focus())
      return
    }
    setBusy(true)
    try {
      const after = await calls.putFields(toFields(draft, names))
      keepDraft(sessionId, null)
      apply(after)
      next(after)
    } catch (error) {
      setFailure(problemText(error, messages))
    } finally {
      setBusy(false)
    }
  }

  const has = (name: FieldName): boolean => names.includes(name)
  /** If the session requires a document, the person has it at hand. */
  const asksForDocument = view.requirements.some(
    (requirement) => requirement.part === 'document' && requirement.kind === 'identity-document',
  )
  const text = (name: 'fullName' | 'registeredName' | 'registrationNumber', hint: string, autocomplete: string) => (
    <Field id={name} label={details[name]} hint={hint} error={problems.get(name)}>
      {(attributes) => (
        <input
          {...attributes}
          type="text"
          // Lets the browser fill in known values.
          autocomplete={autocomplete as 'name'}
          value={draft[name]}
          onInput={(event) => change({ [name]: event.currentTarget.value })}
        />
      )}
    </Field>
  )

  return (
    <Screen
      title={details.title[checkType]}
      lead={details.lead[checkType]}
      actions={<StepActions back={back} busy={busy} form={FORM} />}
    >
      {problems.size > 0 && <Summary problems={problems} place={summary} />}
      {failure !== null && (
        <Notice tone="bad" urgent>
          <p>{failure}</p>
        </Notice>
      )}
      {loading ? (
        <p class="waiting" role="status">
          <span class="spinner" aria-hidden="true" /> {common.loading}
        </p>
      ) : (
        <form
          id={FORM}
          class="card form"
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            if (!busy) void submit()
          }}
        >
          {has('fullName') && asksForDocument && <DocumentFill onRead={change} />}
          {has('fullName') && text('fullName', details.fullNameHint, 'name')}
          {has('registeredName') && text('registeredName', details.registeredNameHint, 'organization')}
          {has('registrationNumber') && text('registrationNumber', details.registrationNumberHint, 'off')}
          {has('birthDate') && <BirthDate draft={draft} problem={problems.get('birth-day')} onChange={change} />}
          {has('country') && (
            <Field
              id="country"
              label={details.country}
              hint={details.countryHint[checkType]}
              error={problems.get('country')}
            >
              {(attributes) => (
                <select
                  {...attributes}
                  autocomplete="country"
                  value={draft.country}
                  onChange={(event) => change({ country: event.currentTarget.value })}
                >
                  <option value="">{details.countryChoose}</option>
                  {countryList.map(({ code, name }) => (
                    <option key={code} value={code}>
                      {name}
                    </option>
                  ))}
                </select>
              )}
            </Field>
          )}
          {has('owners') && (
            <OwnerFields owners={draft.owners} problems={problems} onChange={(owners) => change({ owners })} />
          )}
        </form>
      )}
    </Screen>
  )
}
