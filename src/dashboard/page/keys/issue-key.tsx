// Issuing a key, and the one moment in which it is shown.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { ApiKey } from '../api/types.ts'
import { useForm } from '../data/use-form.ts'
import { useSession, useWorkplace } from '../shell/session.ts'
import { FormDialog } from '../ui/dialog.tsx'
import { CheckField, RadioField, SelectField, TextField } from '../ui/field.tsx'
import { SecretDialog } from '../ui/secret.tsx'

type Kind = ApiKey['kind']
type Limit = 'default' | 'none' | 'own'

const DAY_MS = 86_400_000
const LIVES = [
  { value: '', label: 'Never' },
  { value: '30', label: 'After 30 days' },
  { value: '90', label: 'After 90 days' },
  { value: '365', label: 'After a year' },
]

const KINDS = [
  {
    value: 'attestation',
    label: 'Attestation',
    hint: 'Asks for decisions and signatures: your backend, your relayer.',
  },
  { value: 'identity', label: 'Identity', hint: 'Starts and reads identity sessions.' },
  { value: 'admin', label: 'Admin', hint: 'Everything an organization admin may do, for scripts.' },
]

interface IssueKeyProps {
  readonly onClose: () => void
  /** Told the key itself, for who goes on with it at once. */
  readonly onIssued: (key: string) => void
  /** No other kind is offered. */
  readonly only?: Kind
}

export const IssueKey = ({ onClose, onIssued, only }: IssueKeyProps) => {
  const { params } = useWorkplace()
  const { account } = useSession()
  const [issued, setIssued] = useState<string | null>(null)
  const form = useForm({
    initial: {
      name: '',
      kind: only ?? ('attestation' as Kind),
      environment: 'live',
      lifeDays: '',
      limit: 'default' as Limit,
      requests_per_second: '1000',
      burst: '2000',
      deployment: false,
    },
    check: ({ name }) => (name.trim() === '' ? { name: 'Say what the key is for.' } : {}),
    fieldNames: {
      expires_at: 'lifeDays',
      'rate_limit.requests_per_second': 'requests_per_second',
      'rate_limit.burst': 'burst',
    },
    submit: async (values): Promise<void> => {
      const { key } = await call('POST /organizations/{organization}/keys', {
        params,
        body: {
          name: values.name.trim(),
          kind: values.kind,
          environment: values.environment === 'test' ? 'test' : 'live',
          ...(values.lifeDays === ''
            ? {}
            : { expires_at: new Date(Date.now() + Number(values.lifeDays) * DAY_MS).toISOString() }),
          ...(values.limit === 'default'
            ? {}
            : {
                rate_limit:
                  values.limit === 'none'
                    ? null
                    : { requests_per_second: Number(values.requests_per_second), burst: Number(values.burst) },
              }),
          ...(values.kind === 'admin' && values.deployment ? { deployment: true } : {}),
        },
      })
      onIssued(key ?? '')
      setIssued(key ?? '')
    },
  })
  const { values, set } = form
  if (issued !== null) {
    return <SecretDialog title="The key is issued" label="The key" text={issued} onClose={onClose} />
  }
  return (
    <FormDialog title="Issue a key" form={form} submitLabel="Issue the key" onClose={onClose}>
      <TextField
        {...form.text('name')}
        label="Name"
        hint="Where it will be used, as “relayer, production”."
        input={{ maxLength: 100, autofocus: true }}
      />
      {only === undefined && (
        <RadioField
          legend="What it is for"
          name="kind"
          value={values.kind}
          onValue={(value) => set('kind', value as Kind)}
          choices={KINDS}
        />
      )}
      <div class="form-row">
        <SelectField {...form.text('lifeDays')} label="Ends" choices={LIVES} />
        {values.kind === 'identity' && (
          <SelectField
            {...form.text('environment')}
            label="Environment"
            choices={[
              { value: 'live', label: 'Live' },
              { value: 'test', label: 'Test: sandbox sessions only' },
            ]}
          />
        )}
        <SelectField
          label="Rate limit"
          value={values.limit}
          onValue={(value) => set('limit', value as Limit)}
          choices={[
            { value: 'default', label: '1,000/s, bursts of 2,000' },
            { value: 'own', label: 'Another' },
            { value: 'none', label: 'None' },
          ]}
        />
      </div>
      {values.limit === 'own' && (
        <div class="form-row">
          <TextField {...form.text('requests_per_second')} label="Requests per second" type="number" />
          <TextField {...form.text('burst')} label="Burst" type="number" />
        </div>
      )}
      {values.kind === 'admin' && account.deployment_admin && (
        <CheckField
          label="Also for the deployment"
          hint="Attesters, workers, every organization’s audit log. Rarely needed."
          checked={values.deployment}
          onChecked={(checked) => set('deployment', checked)}
        />
      )}
    </FormDialog>
  )
}
