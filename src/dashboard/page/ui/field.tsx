import type { ComponentChildren, InputHTMLAttributes } from 'preact'
import { useId } from 'preact/hooks'
import { Icon } from './icons.tsx'

interface FieldAttributes {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': boolean
}

interface FieldProps {
  readonly label: string
  readonly hint?: ComponentChildren
  readonly error?: string | undefined
  readonly optional?: boolean
  readonly children: (attributes: FieldAttributes) => ComponentChildren
}

/** Wraps inputs without a component below. */
export const Field = ({ label, hint, error, optional = false, children }: FieldProps) => {
  const id = useId()
  const described = [hint === undefined ? '' : `${id}-hint`, error === undefined ? '' : `${id}-error`].filter(Boolean)
  return (
    <div class={`field${error === undefined ? '' : ' field-wrong'}`}>
      <label for={id}>
        {label}
        {optional && <span class="field-optional"> (optional)</span>}
      </label>
      {children({
        id,
        'aria-describedby': described.length === 0 ? undefined : described.join(' '),
        'aria-invalid': error !== undefined,
      })}
      {hint !== undefined && (
        <p class="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p class="field-error" id={`${id}-error`}>
          <Icon name="alert" size={14} />
          {error}
        </p>
      )}
    </div>
  )
}

interface Common {
  readonly label: string
  readonly hint?: ComponentChildren
  readonly error?: string | undefined
  readonly optional?: boolean
  readonly name?: string
  readonly value: string
  readonly onValue: (value: string) => void
}

type InputAttributes = Pick<
  InputHTMLAttributes<HTMLInputElement>,
  'autocomplete' | 'autofocus' | 'inputMode' | 'maxLength' | 'min' | 'max' | 'placeholder' | 'step'
> & { readonly 'data-search'?: boolean }

interface TextFieldProps extends Common {
  readonly type?: 'text' | 'email' | 'password' | 'number' | 'search' | 'datetime-local' | 'date'
  readonly mono?: boolean
  readonly input?: InputAttributes
}

export const TextField = ({
  label,
  hint,
  error,
  optional,
  name,
  value,
  onValue,
  type,
  mono,
  input,
}: TextFieldProps) => (
  <Field label={label} hint={hint} error={error} optional={optional ?? false}>
    {(attributes) => (
      <input
        autocomplete="off"
        {...(input as object)}
        {...attributes}
        {...(name === undefined ? {} : { name })}
        class={mono === true ? 'mono' : undefined}
        type={(type ?? 'text') as 'text'}
        value={value}
        spellcheck={mono === true ? false : undefined}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    )}
  </Field>
)

export const TextArea = ({
  label,
  hint,
  error,
  optional,
  name,
  value,
  onValue,
  rows = 4,
  mono = false,
}: Common & { readonly rows?: number; readonly mono?: boolean }) => (
  <Field label={label} hint={hint} error={error} optional={optional ?? false}>
    {(attributes) => (
      <textarea
        {...attributes}
        {...(name === undefined ? {} : { name })}
        class={mono ? 'mono' : undefined}
        rows={rows}
        value={value}
        spellcheck={!mono}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    )}
  </Field>
)

export interface Choice {
  readonly value: string
  readonly label: string
}

/** Choices in order. In a record, numeric keys come first. */
export type SelectChoices = readonly Choice[] | Readonly<Record<string, string>>

const optionsOf = (choices: SelectChoices): readonly (readonly [value: string, label: string])[] =>
  Array.isArray(choices) ? choices.map(({ value, label }: Choice) => [value, label]) : Object.entries(choices)

export const SelectField = ({
  label,
  hint,
  error,
  optional,
  name,
  value,
  onValue,
  choices,
}: Common & { readonly choices: SelectChoices }) => (
  <Field label={label} hint={hint} error={error} optional={optional ?? false}>
    {(attributes) => (
      <select
        {...attributes}
        {...(name === undefined ? {} : { name })}
        value={value}
        onChange={(event) => onValue(event.currentTarget.value)}
      >
        {optionsOf(choices).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    )}
  </Field>
)

interface CheckFieldProps {
  readonly label: ComponentChildren
  readonly hint?: ComponentChildren
  readonly name?: string
  readonly checked: boolean
  readonly onChecked: (checked: boolean) => void
}

export const CheckField = ({ label, hint, name, checked, onChecked }: CheckFieldProps) => {
  const id = useId()
  return (
    <div class="check">
      <input
        id={id}
        type="checkbox"
        {...(name === undefined ? {} : { name })}
        checked={checked}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onChecked(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {hint !== undefined && (
        <p class="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

interface RadioFieldProps {
  readonly legend: string
  readonly name: string
  readonly value: string
  readonly onValue: (value: string) => void
  readonly choices: readonly (Choice & { readonly hint?: string })[]
}

/** Shows a few choices, each with an explanation. */
export const RadioField = ({ legend, name, value, onValue, choices }: RadioFieldProps) => (
  <fieldset class="radios">
    <legend>{legend}</legend>
    {choices.map((choice) => (
      <label key={choice.value} class="radio">
        <input
          type="radio"
          name={name}
          value={choice.value}
          checked={choice.value === value}
          onChange={() => onValue(choice.value)}
        />
        <span>
          <span class="radio-label">{choice.label}</span>
          {choice.hint !== undefined && <span class="field-hint">{choice.hint}</span>}
        </span>
      </label>
    ))}
  </fieldset>
)
