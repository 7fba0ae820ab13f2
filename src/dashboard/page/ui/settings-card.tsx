// Settings cards from a description: a form for users who may change them, the current values for others.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useLeaveWarning } from '../data/use-leave-warning.ts'
import type { Query } from '../data/use-query.ts'
import { type Action, useActions } from './actions.tsx'
import { Button } from './button.tsx'
import { CheckField } from './field.tsx'
import { type FieldSpecs, FormFields, fieldTexts, useFields, type ValuesOf } from './form-fields.tsx'
import { Loaded } from './loaded.tsx'
import { Card, Facts } from './parts.tsx'
import { Problem } from './problem.tsx'
import { say } from './toast.tsx'

interface FormProps<Value, Specs extends FieldSpecs> {
  readonly value: Value
  readonly query: Pick<Query<Value>, 'set' | 'reload'>
  readonly fields: (value: Value) => Specs
  /** @returns the new values; undefined to read them again */
  readonly save: (values: ValuesOf<Specs>, changes: Partial<ValuesOf<Specs>>) => Promise<Value | undefined>
  readonly done: string
  readonly submit?: string
  /** Consequences of the entered values, shown below the fields. */
  readonly notice?: (values: ValuesOf<Specs>, value: Value) => ComponentChildren
  readonly aside?: (values: ValuesOf<Specs>) => ComponentChildren
  readonly tools?: (value: Value) => ComponentChildren
}

/** Resets to the current values after each save. */
const SettingsForm = <Value, const Specs extends FieldSpecs>(props: FormProps<Value, Specs>) => {
  const { value, query, fields: describe, save, done, submit = 'Save', notice, aside, tools } = props
  const [saves, setSaves] = useState(0)
  const fields = useFields(describe(value), async (values) => {
    if (Object.keys(fields.changes).length > 0) {
      const saved = await save(values, fields.changes)
      if (saved === undefined) query.reload()
      else query.set(saved)
    }
    fields.form.reset()
    setSaves(saves + 1)
    say(done)
  })
  useLeaveWarning(Object.keys(fields.changes).length > 0, 'everywhere')
  const form = (
    <form {...fields.form.attributes} class="form">
      <FormFields key={saves} fields={fields} />
      {notice?.(fields.values, value)}
      <Problem error={fields.form.failure} />
      <div class="form-actions">
        <Button kind="primary" submit busy={fields.form.busy}>
          {submit}
        </Button>
        {tools?.(value)}
      </div>
    </form>
  )
  if (aside === undefined) return form
  return (
    <div class="page-settings">
      {form}
      {aside(fields.values)}
    </div>
  )
}

interface CardProps {
  readonly id?: string
  readonly title: string
  readonly text?: ComponentChildren
  readonly mayChange?: boolean
}

interface SettingsCardProps<Value, Specs extends FieldSpecs> extends CardProps, Omit<FormProps<Value, Specs>, 'value'> {
  readonly query: Query<Value>
  readonly actions?: ComponentChildren
  readonly intro?: (value: Value) => ComponentChildren
  /** Replaces the form for users who may not change the settings. Defaults to the values of the fields. */
  readonly view?: (value: Value) => ComponentChildren
}

export const SettingsCard = <Value, const Specs extends FieldSpecs>(props: SettingsCardProps<Value, Specs>) => {
  const { id, title, text, actions, mayChange = true, query, intro, view, ...form } = props
  return (
    <Card {...(id === undefined ? {} : { id })} title={title} text={text} actions={actions}>
      <Loaded query={query}>
        {(value) => (
          <>
            {intro?.(value)}
            {mayChange ? (
              <SettingsForm {...form} query={query} value={value} />
            ) : (
              (view?.(value) ?? <Facts items={fieldTexts(form.fields(value))} />)
            )}
          </>
        )}
      </Loaded>
    </Card>
  )
}

interface SwitchCardProps<Value> extends CardProps {
  readonly query: Query<Value>
  readonly isOn: (value: Value) => boolean
  readonly label: string
  readonly hint: string
  /** Labels for users who can't change the setting. */
  readonly states: Readonly<Record<'on' | 'off', string>>
  readonly change: (wanted: boolean) => Promise<Value>
  readonly action: (wanted: boolean) => Pick<Action, 'label' | 'title' | 'text' | 'submit' | 'danger'> & {
    readonly done: string
  }
}

/** Takes effect immediately or after a dialog. */
export const SwitchCard = <Value,>(props: SwitchCardProps<Value>) => {
  const { id, title, text, mayChange = true, query, isOn, label, hint, states, change, action } = props
  const { start, isPending, dialog } = useActions()
  const toggle = (wanted: boolean): void => {
    const { done, ...description } = action(wanted)
    start({ ...description, run: async () => query.set(await change(wanted)), done })
  }
  return (
    <Card {...(id === undefined ? {} : { id })} title={title} text={text}>
      <Loaded query={query}>
        {(value) =>
          mayChange ? (
            <CheckField
              label={label}
              hint={hint}
              // Shown as requested until the request ends.
              checked={isOn(value) !== isPending}
              onChecked={toggle}
            />
          ) : (
            <p>{isOn(value) ? states.on : states.off}</p>
          )
        }
      </Loaded>
      {dialog}
    </Card>
  )
}
