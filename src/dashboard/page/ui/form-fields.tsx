// Forms from a description: a field's entry defines its label, initial value, check, and submitted type.
import type { ComponentChildren } from 'preact'
import { type FieldErrors, type Form, useForm } from '../data/use-form.ts'
import { CheckField, Field, RadioField, SelectField, TextArea, TextField } from './field.tsx'

/** Maps values to labels, or to label and hint of a radio button. */
export type Choices<Value extends string = string> = Readonly<Record<Value, string | readonly [string, string]>>

type Raw = string | boolean | File | undefined
export type RawValues = Readonly<Record<string, Raw>>

interface FieldSpec {
  readonly label: string
  readonly hint?: ComponentChildren | undefined
  /** May be empty; the value is then undefined. */
  readonly optional?: true
  /** May be empty; the value is then null. */
  readonly nullable?: true
  /** Values of other fields that are required to show this field, or false to hide it. A hidden field is undefined. */
  readonly when?: Readonly<Record<string, string | boolean>> | false
  /** Initial value, or a function of other fields that applies until the user changes the field. */
  readonly value?: string | boolean | number | readonly string[] | null | undefined | ((values: RawValues) => string)
  /** Meaning of an empty field. */
  readonly none?: string
  /** Without any of the following properties, the field is a text field. */
  readonly choices?: Choices
  readonly radio?: true
  readonly check?: true
  /** Any number of these names can be selected. */
  readonly several?: readonly string[]
  /** Range of whole numbers. */
  readonly number?: readonly [min: number, max: number]
  /** Accepted files, as in the `accept` attribute of an input. */
  readonly file?: string
  readonly maxBytes?: number
  /** Color as #rrggbb, typed or picked. */
  readonly color?: true
  readonly type?: 'email' | 'password' | 'url'
  readonly mono?: true
  readonly rows?: number
  readonly maxLength?: number
  readonly placeholder?: string
  readonly autocomplete?: string
  /** Required pattern, and the error if the text doesn't match. */
  readonly pattern?: readonly [RegExp, string]
}

export type FieldSpecs = Readonly<Record<string, FieldSpec>>

type Filled<Spec> = Spec extends { readonly check: true }
  ? boolean
  : Spec extends { readonly several: unknown }
    ? readonly string[]
    : Spec extends { readonly choices: Readonly<Record<infer Value, unknown>> }
      ? Value & string
      : Spec extends { readonly number: readonly unknown[] }
        ? number
        : Spec extends { readonly file: string }
          ? File
          : string
type Missing<Spec> = Spec extends { readonly nullable: true }
  ? null
  : Spec extends { readonly optional: true } | { readonly when: object | false }
    ? undefined
    : never
export type ValuesOf<Specs> = { readonly [Name in keyof Specs]: Filled<Specs[Name]> | Missing<Specs[Name]> }

const REQUIRED = 'This field is required.'
const COLOR = /^#[0-9a-f]{6}$/i
/** Default color of the verification page. */
const DEFAULT_COLOR = '#1d5b52'
const TYPE_CHECKS: Readonly<Record<string, readonly [RegExp, string]>> = {
  email: [/^[^@\s]+@[^@\s]+$/, 'Enter an email address.'],
  url: [/^https?:\/\/\S+$/, 'Enter a URL that starts with https:// or http://.'],
}

/** Starts with a line break, so that an empty selection differs from an empty text. */
const selectedText = (names: readonly string[]): string => `\n${names.join('\n')}`
const selectedIn = (text: string): readonly string[] => text.split('\n').filter((name) => name !== '')

const initialOf = ({ value, check, choices, optional, nullable }: FieldSpec): Raw => {
  if (check === true) return value === true
  if (Array.isArray(value)) return selectedText(value)
  if (value !== undefined && typeof value !== 'function') return String(value ?? '')
  return optional === true || nullable === true ? '' : Object.keys(choices ?? {})[0]
}

const shownValues = (specs: FieldSpecs, entered: RawValues): RawValues => {
  const shown: Record<string, Raw> = {}
  for (const [name, spec] of Object.entries(specs)) shown[name] = entered[name] ?? initialOf(spec) ?? ''
  for (const [name, { value }] of Object.entries(specs)) {
    if (typeof value === 'function') shown[name] = entered[name] ?? value(shown)
  }
  return shown
}

const isShown = ({ when = {} }: FieldSpec, values: RawValues): boolean =>
  when !== false && Object.entries(when).every(([name, value]) => values[name] === value)

const problemOf = (spec: FieldSpec, raw: Raw): string | null => {
  if (spec.file !== undefined) {
    if (!(raw instanceof File)) return spec.optional === true ? null : REQUIRED
    return raw.size > (spec.maxBytes ?? Number.POSITIVE_INFINITY) ? 'This file is too large.' : null
  }
  if (typeof raw !== 'string' || spec.several !== undefined) return null
  const text = raw.trim()
  if (text === '') return spec.optional === true || spec.nullable === true ? null : (spec.pattern?.[1] ?? REQUIRED)
  if (spec.number !== undefined) {
    const [min, max] = spec.number
    const isRight = /^-?\d{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max
    return isRight ? null : `Enter a whole number from ${min.toLocaleString('en')} to ${max.toLocaleString('en')}.`
  }
  const color = spec.color === true ? ([COLOR, `Enter a color such as ${DEFAULT_COLOR}.`] as const) : undefined
  const [pattern, message] = spec.pattern ?? color ?? TYPE_CHECKS[spec.type ?? ''] ?? [/^/, '']
  return pattern.test(text) ? null : message
}

const problemsIn = (specs: FieldSpecs, values: RawValues): FieldErrors =>
  Object.fromEntries(
    Object.entries(specs).flatMap(([name, spec]) => {
      const problem = isShown(spec, values) ? problemOf(spec, values[name]) : null
      return problem === null ? [] : [[name, problem]]
    }),
  )

const submittedOf = (spec: FieldSpec, raw: Raw) => {
  if (typeof raw !== 'string') return raw
  if (spec.several !== undefined) return raw === '' && spec.nullable === true ? null : selectedIn(raw)
  // Leading and trailing spaces of a password are significant.
  const text = spec.type === 'password' ? raw : raw.trim()
  if (text === '' && spec.nullable === true) return null
  if (text === '' && spec.optional === true) return undefined
  return spec.number === undefined ? text : Number(text)
}

const submittedValues = <Specs extends FieldSpecs>(specs: Specs, values: RawValues): ValuesOf<Specs> =>
  Object.fromEntries(
    Object.entries(specs).map(([name, spec]) => [
      name,
      isShown(spec, values) ? submittedOf(spec, values[name]) : undefined,
    ]),
  ) as ValuesOf<Specs>

interface FieldsForm<Specs extends FieldSpecs> {
  readonly form: Form<RawValues>
  readonly specs: Specs
  readonly shown: RawValues
  /** Submitted values, without validation. */
  readonly values: ValuesOf<Specs>
  /** Fields that differ from their initial values. */
  readonly changes: Partial<ValuesOf<Specs>>
}

export const useFields = <const Specs extends FieldSpecs>(
  specs: Specs,
  submit: (values: ValuesOf<Specs>) => Promise<void>,
  check?: (values: ValuesOf<Specs>) => FieldErrors,
): FieldsForm<Specs> => {
  const form = useForm<RawValues>({
    initial: Object.fromEntries(Object.keys(specs).map((name) => [name, undefined])),
    check: (entered) => {
      const shown = shownValues(specs, entered)
      return { ...check?.(submittedValues(specs, shown)), ...problemsIn(specs, shown) }
    },
    submit: (entered) => submit(submittedValues(specs, shownValues(specs, entered))),
  })
  const shown = shownValues(specs, form.values)
  const initial = shownValues(specs, {})
  const values = submittedValues(specs, shown)
  const changed = Object.entries(values).filter(([name]) => shown[name] !== initial[name])
  return { form, specs, shown, values, changes: Object.fromEntries(changed) as Partial<ValuesOf<Specs>> }
}

const textOf = ({ choices, none = 'None' }: FieldSpec, raw: Raw): string => {
  if (typeof raw !== 'string') return raw === true ? 'Yes' : 'No'
  const words = choices?.[raw] ?? selectedIn(raw).join(', ')
  return (typeof words === 'string' ? words : words[0]) || none
}

export const fieldTexts = (specs: FieldSpecs): readonly (readonly [label: string, value: string])[] => {
  const values = shownValues(specs, {})
  return Object.entries(specs).flatMap(([name, spec]) =>
    isShown(spec, values) && spec.file === undefined ? [[spec.label, textOf(spec, values[name])]] : [],
  )
}

interface FieldProps {
  readonly name: string
  readonly spec: FieldSpec
  readonly fields: FieldsForm<FieldSpecs>
  readonly autofocus: boolean
}

const SpecField = ({ name, spec, fields: { form, shown }, autofocus }: FieldProps) => {
  const { label, hint, choices = {}, number, type, mono, rows, maxLength, placeholder, autocomplete } = spec
  const raw = shown[name]
  const optional = (spec.optional === true || spec.nullable === true) && spec.check !== true
  const common = { ...form.text(name), label, hint, optional, value: typeof raw === 'string' ? raw : '' }
  if (spec.check === true) {
    const onChecked = (checked: boolean): void => form.set(name, checked)
    return <CheckField label={label} hint={hint} checked={raw === true} onChecked={onChecked} />
  }
  if (spec.several !== undefined) {
    return <SeveralField {...common} names={spec.several} {...(spec.nullable ? { none: spec.none ?? '' } : {})} />
  }
  if (spec.file !== undefined) {
    return (
      <Field label={label} hint={hint} optional={optional} error={common.error}>
        {(attributes) => (
          <input
            {...attributes}
            type="file"
            accept={spec.file}
            onChange={(event) => form.set(name, event.currentTarget.files?.[0])}
          />
        )}
      </Field>
    )
  }
  if (spec.choices !== undefined) {
    const list = Object.entries(choices).map(([value, words]) =>
      typeof words === 'string' ? { value, label: words } : { value, label: words[0], hint: words[1] },
    )
    return spec.radio === true ? (
      <RadioField legend={label} name={name} value={common.value} onValue={common.onValue} choices={list} />
    ) : (
      <SelectField {...common} choices={list} />
    )
  }
  if (spec.color === true) {
    return (
      <div class="form-row">
        <TextField {...common} mono input={{ maxLength: 7, placeholder: DEFAULT_COLOR }} />
        <Field label="Color picker">
          {(attributes) => (
            <input
              {...attributes}
              type="color"
              // The color input can't be empty, so it shows the default color.
              value={COLOR.test(common.value) ? common.value.toLowerCase() : DEFAULT_COLOR}
              onInput={(event) => form.set(name, event.currentTarget.value)}
            />
          )}
        </Field>
      </div>
    )
  }
  if (rows !== undefined) return <TextArea {...common} rows={rows} mono={mono ?? false} />
  return (
    <TextField
      {...common}
      type={number === undefined ? (type === 'url' ? 'text' : (type ?? 'text')) : 'number'}
      mono={mono ?? type === 'url'}
      input={{
        autofocus,
        ...(number === undefined ? {} : { min: number[0], max: number[1], step: 1, inputMode: 'numeric' }),
        ...(maxLength === undefined ? {} : { maxLength }),
        ...(placeholder === undefined ? {} : { placeholder }),
        ...(autocomplete === undefined ? {} : { autocomplete }),
      }}
    />
  )
}

interface SeveralFieldProps {
  readonly label: string
  readonly hint?: ComponentChildren
  readonly error: string | undefined
  readonly names: readonly string[]
  /** Meaning of an empty text, if it is a choice. */
  readonly none?: string
  readonly value: string
  readonly onValue: (value: string) => void
}

const SeveralField = ({ label, hint, error, names, none, value, onValue }: SeveralFieldProps) => {
  const selected = selectedIn(value)
  const change = (name: string, on: boolean): void =>
    onValue(selectedText(on ? [...selected, name] : selected.filter((each) => each !== name)))
  return (
    <fieldset class="several">
      <legend>{label}</legend>
      {none !== undefined && (
        <CheckField label={none} checked={value === ''} onChecked={(on) => onValue(on ? '' : selectedText([]))} />
      )}
      {(none === undefined || value !== '') && (
        <div class="several-names">
          {/* A selected name that no longer exists can be cleared. */}
          {[...new Set([...names, ...selected])].map((name) => (
            <CheckField
              key={name}
              label={name}
              checked={selected.includes(name)}
              onChecked={(on) => change(name, on)}
            />
          ))}
        </div>
      )}
      {hint !== undefined && <p class="field-hint">{hint}</p>}
      {error !== undefined && <p class="field-error">{error}</p>}
    </fieldset>
  )
}

const HINT_SHORT = 50

/** Consecutive selects and numbers without long hints share a row. */
const isShort = ({ choices, radio, number, hint = '' }: FieldSpec): boolean =>
  (number !== undefined || (choices !== undefined && radio !== true)) &&
  typeof hint === 'string' &&
  hint.length <= HINT_SHORT

interface FormFieldsProps {
  readonly fields: FieldsForm<FieldSpecs>
  readonly autofocus?: boolean
}

export const FormFields = ({ fields, autofocus = false }: FormFieldsProps) => {
  const rows: { readonly short: boolean; readonly cells: ComponentChildren[] }[] = []
  for (const [index, [name, spec]] of Object.entries(fields.specs).entries()) {
    if (!isShown(spec, fields.shown)) continue
    const cell = <SpecField key={name} name={name} spec={spec} fields={fields} autofocus={autofocus && index === 0} />
    const short = isShort(spec)
    const last = rows.at(-1)
    if (short && last?.short === true) last.cells.push(cell)
    else rows.push({ short, cells: [cell] })
  }
  return (
    <>
      {rows.map(({ cells }, index) =>
        cells.length === 1 ? (
          cells[0]
        ) : (
          <div key={index} class="form-row">
            {cells}
          </div>
        ),
      )}
    </>
  )
}
