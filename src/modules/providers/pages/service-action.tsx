import { call } from '../../../dashboard/page/api/client.ts'
import type { ModuleParts } from '../../../dashboard/page/module-pages.ts'
import { action } from '../../../dashboard/page/ui/actions.tsx'
import { Button } from '../../../dashboard/page/ui/button.tsx'
import { Copyable } from '../../../dashboard/page/ui/copy.tsx'
import { Dialog } from '../../../dashboard/page/ui/dialog.tsx'

const SERVICES = { sumsub: 'Sumsub', persona: 'Persona', veriff: 'Veriff' } as const

const showPath = (path: string) => (close: () => void) => (
  <Dialog title="Webhook path" onClose={close}>
    <p class="confirm-text">In the service’s settings, append this path to your API’s https address:</p>
    <p>
      <Copyable text={path} label="path" />
    </p>
    <div class="form-actions">
      <Button kind="primary" onClick={close}>
        Done
      </Button>
    </div>
  </Dialog>
)

const serviceAction: ModuleParts['deciderAction'] = ({ id, service }, params) =>
  action({
    label: 'Set verification service',
    icon: 'check',
    title: 'Verification service',
    submit: 'Save',
    text: 'The service’s webhooks decide sessions. Pass the session ID to the service as its reference.',
    fields: {
      service: { label: 'Service', choices: SERVICES, value: service ?? 'sumsub' },
      secret: {
        label: 'Webhook secret',
        hint: 'From the service’s settings. After a change, the old secret stays valid for 1 day.',
        type: 'password',
        maxLength: 500,
        pattern: [/^.{8}/s, 'Enter the secret that the service displays.'],
      },
    },
    run: ({ secret, ...body }) =>
      call('PUT /organizations/{organization}/webhooks/{endpoint}/service', {
        params: { ...params, endpoint: id },
        body: { ...body, secret: secret.trim() },
      }),
    done: ({ service_path: path }) => showPath(path ?? ''),
  })

export const PARTS: ModuleParts = { deciderAction: serviceAction }
