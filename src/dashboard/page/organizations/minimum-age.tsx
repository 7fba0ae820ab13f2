// How old people have to be, at every level or at one of them.
import { call } from '../api/client.ts'
import type { MinimumAge } from '../api/types.ts'
import { useForm } from '../data/use-form.ts'
import { useRead } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Card, Facts } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { say } from '../ui/toast.tsx'

const FIELDS = [
  { name: 'years', label: 'Every level' },
  { name: 'basic', label: 'Basic' },
  { name: 'standard', label: 'Standard' },
  { name: 'enhanced', label: 'Enhanced' },
] as const

type Values = Record<(typeof FIELDS)[number]['name'], string>

const textOf = (years: number | null): string => (years === null ? '' : String(years))
const toValues = ({ years, levels }: MinimumAge): Values => ({
  years: textOf(years),
  basic: textOf(levels.basic),
  standard: textOf(levels.standard),
  enhanced: textOf(levels.enhanced),
})

/** Null where the field is empty; NaN for what is no age. */
const yearsOf = (text: string): number | null => {
  if (text.trim() === '') return null
  const years = Number(text)
  return Number.isInteger(years) && years >= 1 && years <= 99 ? years : Number.NaN
}

const check = (values: Values): Readonly<Record<string, string>> =>
  Object.fromEntries(
    FIELDS.flatMap(({ name }) =>
      Number.isNaN(yearsOf(values[name])) ? [[name, 'A whole number of years, 1 to 99, or nothing.']] : [],
    ),
  )

const AgeForm = ({ ages, onChange }: { readonly ages: MinimumAge; readonly onChange: (ages: MinimumAge) => void }) => {
  const { params } = useWorkplace()
  const form = useForm({
    initial: toValues(ages),
    check,
    submit: async (values): Promise<void> => {
      const changed = await call('PUT /organizations/{organization}/minimum-age', {
        params,
        body: {
          years: yearsOf(values.years),
          levels: {
            basic: yearsOf(values.basic),
            standard: yearsOf(values.standard),
            enhanced: yearsOf(values.enhanced),
          },
        },
      })
      onChange(changed)
      form.reset(toValues(changed))
      say('Minimum age changed')
    },
  })
  return (
    <form {...form.attributes} class="form">
      <div class="form-row">
        {FIELDS.map(({ name, label }) => (
          <TextField
            key={name}
            {...form.text(name)}
            label={label}
            optional
            type="number"
            input={{ min: 1, max: 99, step: 1, inputMode: 'numeric' }}
          />
        ))}
      </div>
      <Problem error={form.failure} />
      <div class="form-actions">
        <Button kind="primary" submit busy={form.busy}>
          Save the ages
        </Button>
      </div>
    </form>
  )
}

export const MinimumAgeCard = ({ mayChange }: { readonly mayChange: boolean }) => {
  const { params } = useWorkplace()
  const ages = useRead('GET /organizations/{organization}/minimum-age', { params })
  return (
    <Card
      id="minimum-age"
      title="Minimum age"
      text="How old people have to be, in years. Whoever is younger fails the age check. An age for one level replaces the one for every level. Without any age, people under 18 are marked for a look."
    >
      <Loaded query={ages}>
        {(value) =>
          mayChange ? (
            <AgeForm ages={value} onChange={ages.set} />
          ) : (
            <Facts items={FIELDS.map(({ name, label }) => [label, toValues(value)[name] || 'none'] as const)} />
          )
        }
      </Loaded>
    </Card>
  )
}
