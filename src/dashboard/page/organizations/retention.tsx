// For how long what people handed in stays, by what became of their session.

import { counted } from '../../../lib/counted.ts'
import { call } from '../api/client.ts'
import type { EvidenceRetention } from '../api/types.ts'
import { useForm } from '../data/use-form.ts'
import { useRead } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Card, Facts } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'
import { say } from '../ui/toast.tsx'

const DAYS_MAX = 36_500

type Field = keyof EvidenceRetention
type Values = Record<Field, string>

const FIELDS: readonly {
  readonly name: Field
  readonly label: string
  readonly hint: string
  readonly least: 0 | 1
}[] = [
  { name: 'completed_days', label: 'Completed', hint: 'Days after the decision.', least: 0 },
  { name: 'rejected_days', label: 'Rejected', hint: 'Days after the decision.', least: 1 },
  { name: 'abandoned_days', label: 'Never handed in', hint: 'Days after the last step.', least: 1 },
]

const daysOf = (text: string, least = 0): number | null => {
  const days = Number(text)
  return /^[0-9]+$/.test(text.trim()) && days >= least && days <= DAYS_MAX ? days : null
}

const toValues = (retention: EvidenceRetention): Values => ({
  completed_days: String(retention.completed_days),
  rejected_days: String(retention.rejected_days),
  abandoned_days: String(retention.abandoned_days),
})

const check = (values: Values): Readonly<Record<string, string>> =>
  Object.fromEntries(
    FIELDS.flatMap(({ name, least }) =>
      daysOf(values[name], least) === null
        ? [[name, `A whole number of days, ${least} to ${DAYS_MAX.toLocaleString('en')}.`]]
        : [],
    ),
  )

interface RetentionFormProps {
  readonly retention: EvidenceRetention
  readonly onChange: (retention: EvidenceRetention) => void
}

const RetentionForm = ({ retention, onChange }: RetentionFormProps) => {
  const { params } = useWorkplace()
  const form = useForm({
    initial: toValues(retention),
    check,
    submit: async (values): Promise<void> => {
      const body = {
        completed_days: Number(values.completed_days),
        rejected_days: Number(values.rejected_days),
        abandoned_days: Number(values.abandoned_days),
      }
      const changed = await call('PATCH /organizations/{organization}/evidence-retention', { params, body })
      onChange(changed)
      form.reset(toValues(changed))
      say('Retention changed')
    },
  })
  const isShorter = FIELDS.some(({ name }) => (daysOf(form.values[name]) ?? retention[name]) < retention[name])
  return (
    <form {...form.attributes} class="form">
      <div class="form-row">
        {FIELDS.map(({ name, label, hint }) => (
          <TextField
            key={name}
            {...form.text(name)}
            label={label}
            hint={hint}
            type="number"
            input={{ min: 0, max: DAYS_MAX, step: 1, inputMode: 'numeric' }}
          />
        ))}
      </div>
      {isShorter && (
        <Notice tone="warn" title="Shorter than now">
          <p>What is past the new time is erased within an hour, for good.</p>
        </Notice>
      )}
      <Problem error={form.failure} />
      <div class="form-actions">
        <Button kind="primary" submit busy={form.busy}>
          Save the days
        </Button>
      </div>
    </form>
  )
}

export const RetentionCard = ({ mayChange }: { readonly mayChange: boolean }) => {
  const { params } = useWorkplace()
  const retention = useRead('GET /organizations/{organization}/evidence-retention', { params })
  return (
    <Card
      id="evidence"
      title="Evidence"
      text="For how long documents and answers stay, by what became of their session. Who was verified stays known without them."
    >
      <Loaded query={retention}>
        {(value) =>
          mayChange ? (
            <RetentionForm retention={value} onChange={retention.set} />
          ) : (
            <Facts items={FIELDS.map(({ name, label }) => [label, counted(value[name], 'day', 'days')] as const)} />
          )
        }
      </Loaded>
    </Card>
  )
}
