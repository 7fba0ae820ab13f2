// An endpoint's beginning, its next secret, and its end. A secret is seen when it is made and never again.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { WebhookEndpoint } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { useForm } from '../data/use-form.ts'
import { useWorkplace } from '../shell/session.ts'
import { ConfirmDialog, FormDialog } from '../ui/dialog.tsx'
import { RadioField, SelectField, TextField } from '../ui/field.tsx'
import { SecretDialog } from '../ui/secret.tsx'
import { say } from '../ui/toast.tsx'

interface DialogProps {
  readonly onClose: () => void
  readonly onDone: () => void
}

const SECRET_LEAD = 'With it your endpoint checks that a message is from here, by Standard Webhooks.'

export const AddEndpoint = ({ onClose, onDone }: DialogProps) => {
  const { params } = useWorkplace()
  const [secret, setSecret] = useState<string | null>(null)
  const form = useForm({
    initial: {
      url: '',
      environment: 'live' as WebhookEndpoint['environment'],
      purpose: 'events' as WebhookEndpoint['purpose'],
    },
    check: ({ url }) => (/^https?:\/\/\S+$/.test(url.trim()) ? {} : { url: 'A URL that begins with https://.' }),
    submit: async ({ url, environment, purpose }): Promise<void> => {
      const answer = await call('POST /organizations/{organization}/webhooks', {
        params,
        body: { url: url.trim(), environment, purpose },
      })
      onDone()
      setSecret(answer.secret ?? '')
    },
  })
  if (secret !== null)
    return (
      <SecretDialog
        title="The endpoint’s secret"
        lead={SECRET_LEAD}
        label="The secret"
        text={secret}
        onClose={onClose}
      />
    )
  return (
    <FormDialog title="Add an endpoint" form={form} submitLabel="Add the endpoint" onClose={onClose}>
      <TextField
        {...form.text('url')}
        label="URL"
        mono
        input={{ placeholder: 'https://', maxLength: 2000, autofocus: true }}
      />
      <RadioField
        legend="What it does"
        name="purpose"
        value={form.values.purpose}
        onValue={(value) => form.set('purpose', value as WebhookEndpoint['purpose'])}
        choices={[
          { value: 'events', label: 'Is told of every change of a session' },
          {
            value: 'decisions',
            label: 'Decides sessions that were handed in',
            hint: 'In place of reviewers: your own system approves or refuses.',
          },
        ]}
      />
      <RadioField
        legend="Sessions made with"
        name="environment"
        value={form.values.environment}
        onValue={(value) => form.set('environment', value as WebhookEndpoint['environment'])}
        choices={[
          { value: 'live', label: 'Live keys' },
          { value: 'test', label: 'Test keys' },
        ]}
      />
    </FormDialog>
  )
}

export const RotateSecret = ({ endpoint, onClose, onDone }: DialogProps & { readonly endpoint: WebhookEndpoint }) => {
  const { params } = useWorkplace()
  const [secret, setSecret] = useState<string | null>(null)
  const form = useForm({
    initial: { overlap_seconds: '86400' },
    submit: async ({ overlap_seconds }): Promise<void> => {
      const answer = await call('POST /organizations/{organization}/webhooks/{endpoint}/rotate', {
        params: { ...params, endpoint: endpoint.id },
        body: { overlap_seconds: Number(overlap_seconds) },
      })
      onDone()
      setSecret(answer.secret ?? '')
    },
  })
  if (secret !== null)
    return <SecretDialog title="The new secret" lead={SECRET_LEAD} label="The secret" text={secret} onClose={onClose} />
  return (
    <FormDialog title="Make a new secret" form={form} submitLabel="Make the secret" onClose={onClose}>
      <p class="confirm-text">
        Messages carry both signatures for a while, so that your endpoint can take up the new secret in its own time.
      </p>
      <SelectField
        {...form.text('overlap_seconds')}
        label="The old secret signs for"
        choices={[
          { value: '3600', label: 'Another hour' },
          { value: '86400', label: 'Another day' },
          { value: '604800', label: 'Another week' },
        ]}
      />
    </FormDialog>
  )
}

export const RemoveEndpoint = ({ endpoint, onClose, onDone }: DialogProps & { readonly endpoint: WebhookEndpoint }) => {
  const { params } = useWorkplace()
  const action = useAction(async () => {
    await call('DELETE /organizations/{organization}/webhooks/{endpoint}', {
      params: { ...params, endpoint: endpoint.id },
    })
    say('Endpoint removed')
    onDone()
    onClose()
  })
  return (
    <ConfirmDialog title="Remove this endpoint?" confirmLabel="Remove the endpoint" action={action} onClose={onClose}>
      <p>
        <code>{endpoint.url}</code> is told of nothing any more; what waits for it is dropped.
      </p>
    </ConfirmDialog>
  )
}
