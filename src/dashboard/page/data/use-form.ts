// Form state with one submission at a time. Server errors appear at their field, others above the buttons.
import { useCallback, useRef, useState } from 'preact/hooks'
import { fieldProblemOf } from '../api/errors.ts'

export type FieldErrors = Readonly<Record<string, string>>

export interface Form<Values extends object> {
  readonly values: Values
  readonly set: <Name extends keyof Values>(name: Name, value: Values[Name]) => void
  readonly reset: (values?: Values) => void
  readonly errors: FieldErrors
  readonly failure: unknown
  readonly busy: boolean
  /** Attributes of the `form` element: `<form {...form.attributes}>`. */
  readonly attributes: { readonly noValidate: true; readonly onSubmit: (event: Event) => void }
  /** Value and change handler of a text field: `<TextField {...form.text('name')} label="Name" />`. */
  readonly text: <Name extends keyof Values & string>(
    name: Name,
  ) => {
    readonly name: Name
    readonly value: string
    readonly error: string | undefined
    readonly onValue: (value: string) => void
  }
}

interface FormOptions<Values extends object> {
  readonly initial: Values
  readonly check?: (values: Values) => FieldErrors
  readonly submit: (values: Values) => Promise<void>
  /** Form field names by server name, if they differ. */
  readonly fieldNames?: Readonly<Record<string, string>>
}

const focusFirstWrong = (form: HTMLFormElement | null): void => {
  requestAnimationFrame(() => form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
}

export const useForm = <Values extends object>(options: FormOptions<Values>): Form<Values> => {
  const [values, setValues] = useState(options.initial)
  const [errors, setErrors] = useState<FieldErrors>({})
  const [failure, setFailure] = useState<unknown>(null)
  const [busy, setBusy] = useState(false)
  const running = useRef(false)

  const set = useCallback(<Name extends keyof Values>(name: Name, value: Values[Name]): void => {
    setValues((before) => ({ ...before, [name]: value }))
    setErrors(({ [name as string]: _mended, ...rest }) => rest)
  }, [])

  const send = async (element: HTMLFormElement | null): Promise<void> => {
    if (running.current) return
    const wrong = options.check?.(values) ?? {}
    setErrors(wrong)
    setFailure(null)
    if (Object.keys(wrong).length > 0) {
      focusFirstWrong(element)
      return
    }
    running.current = true
    setBusy(true)
    try {
      await options.submit(values)
    } catch (error) {
      const problem = fieldProblemOf(error)
      const path = problem?.field.split(/[.[]/) ?? []
      const names = [problem?.field, path[0], path.at(-1)].map((name) => options.fieldNames?.[name ?? ''] ?? name)
      const name = names.find((each) => each !== undefined && each in values)
      if (problem !== null && name !== undefined) {
        setErrors({ [name]: problem.text })
        focusFirstWrong(element)
      } else {
        setFailure(error)
      }
    } finally {
      running.current = false
      setBusy(false)
    }
  }

  return {
    values,
    set,
    errors,
    failure,
    busy,
    reset: (next = options.initial) => {
      setValues(next)
      setErrors({})
      setFailure(null)
    },
    attributes: {
      noValidate: true,
      onSubmit: (event) => {
        event.preventDefault()
        void send(event.currentTarget as HTMLFormElement | null)
      },
    },
    text: (name) => ({
      name,
      value: String(values[name] ?? ''),
      error: errors[name],
      onValue: (value) => set(name, value as Values[typeof name]),
    }),
  }
}
