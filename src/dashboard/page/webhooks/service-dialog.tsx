// Which verification service decides over an endpoint, and the secret that it signs with.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { WebhookEndpoint } from '../api/types.ts'
import { useForm } from '../data/use-form.ts'
import { useWorkplace } from '../shell/session.ts'
import { Button } from '../ui/button.tsx'
import { Copyable } from '../ui/copy.tsx'
import { Dialog, FormDialog } from '../ui/dialog.tsx'
import { SelectField, TextField } from '../ui/field.tsx'

type Service = NonNullable<WebhookEndpoint['service']>

export const SERVICE_NAMES: Readonly<Record<Service, string>> = {
  sumsub: 'Sumsub',
  persona: 'Persona',
  veriff: 'Veriff',
}

const CHOICES = (Object.keys(SERVICE_NAMES) as Service[]).map((value) => ({ value, label: SERVICE_NAMES[value] }))

interface ServiceDialogProps {
  readonly endpoint: WebhookEndpoint
  readonly onClose: () => void
  readonly onDone: () => void
}

export const ServiceDialog = ({ endpoint, onClose, onDone }: ServiceDialogProps) => {
  const { params } = useWorkplace()
  const [path, setPath] = useState<string | null>(null)
  const form = useForm({
    initial: { service: (endpoint.service ?? 'sumsub') as string, secret: '' },
    check: ({ secret }) => (secret.trim().length < 8 ? { secret: 'The secret as the service shows it.' } : {}),
    submit: async ({ service, secret }): Promise<void> => {
      const answer = await call('PUT /organizations/{organization}/webhooks/{endpoint}/service', {
        params: { ...params, endpoint: endpoint.id },
        body: { service: service as Service, secret: secret.trim() },
      })
      onDone()
      setPath(answer.service_path ?? '')
    },
  })
  if (path !== null)
    return (
      <Dialog title="Where the service sends its webhooks" onClose={onClose}>
        <p class="confirm-text">On the address of your API, with https. Put it into the service’s settings:</p>
        <p>
          <Copyable text={path} label="path" />
        </p>
        <div class="form-actions">
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </Dialog>
    )
  return (
    <FormDialog title="Verification service" form={form} submitLabel="Have it decide" onClose={onClose}>
      <p class="confirm-text">
        Its own webhooks complete, refuse or send back sessions, beside this endpoint. Your backend gives it the
        session’s id as its reference.
      </p>
      <SelectField {...form.text('service')} label="Service" choices={CHOICES} />
      <TextField
        {...form.text('secret')}
        label="Secret of its webhooks"
        hint="As the service shows it. After a change the old one stays valid for a day."
        type="password"
        input={{ autocomplete: 'off', maxLength: 500 }}
      />
    </FormDialog>
  )
}
