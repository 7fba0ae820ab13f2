import { call } from '../api/client.ts'
import type { ApiKey } from '../api/types.ts'
import { useWorkplace } from '../shell/session.ts'
import { type Action, ActionDialog, action, showSecret } from '../ui/actions.tsx'

const DAY_MS = 86_400_000

export const KIND_LABELS: Readonly<Record<ApiKey['kind'], string>> = {
  attestation: 'Attestation',
  identity: 'Identity',
  admin: 'Admin',
}

interface CreateKeyOptions {
  readonly params: { readonly organization: string }
  readonly mayAddDeployment?: boolean
  /** The only key type offered. */
  readonly only?: ApiKey['kind']
  readonly onCreated?: (key: string) => void
}

export const createKey = ({ params, mayAddDeployment = false, only, onCreated }: CreateKeyOptions): Action =>
  action({
    label: 'Create key',
    submit: 'Create',
    fields: {
      name: { label: 'Name', hint: 'The service that uses it, such as “relayer, production”.', maxLength: 100 },
      kind: {
        label: 'Type',
        radio: true,
        value: only ?? 'attestation',
        when: only === undefined && {},
        choices: {
          attestation: ['Attestation', 'Requests decisions and signatures.'],
          identity: ['Identity', 'Creates and reads identity sessions.'],
          admin: ['Admin', 'Has the rights of an organization admin, for scripts.'],
        },
      },
      expires: {
        label: 'Expires',
        choices: { never: 'Never', '30 days': 'In 30 days', '90 days': 'In 90 days', '365 days': 'In 1 year' },
      },
      environment: {
        label: 'Environment',
        when: { kind: 'identity' },
        choices: { live: 'Live', test: 'Test: sandbox sessions only' },
      },
      limit: {
        label: 'Rate limit',
        choices: { default: '1,000/s, bursts of 2,000', custom: 'Custom', none: 'None' },
      },
      requests_per_second: {
        label: 'Requests per second',
        number: [1, 1_000_000],
        value: '1000',
        when: { limit: 'custom' },
      },
      burst: { label: 'Burst', number: [1, 10_000_000], value: '2000', when: { limit: 'custom' } },
      deployment: {
        label: 'Deployment access',
        hint: 'Access to attesters, workers, shared lists, organizations, and every organization’s audit log.',
        check: true,
        when: mayAddDeployment && { kind: 'admin' },
      },
    },
    run: ({ expires, limit, requests_per_second = 0, burst = 0, kind = only ?? 'attestation', ...rest }) =>
      call('POST /organizations/{organization}/keys', {
        params,
        body: {
          ...rest,
          kind,
          expires_at:
            expires === 'never' ? null : new Date(Date.now() + Number.parseInt(expires, 10) * DAY_MS).toISOString(),
          rate_limit: limit === 'default' ? undefined : limit === 'none' ? null : { requests_per_second, burst },
        },
      }),
    done: ({ key }) => {
      onCreated?.(key ?? '')
      return showSecret('Key created', 'API key', key)
    },
  })

interface CreateKeyDialogProps {
  readonly onClose: () => void
  readonly onCreated: (key: string) => void
}

export const CreateAttestationKey = ({ onClose, onCreated }: CreateKeyDialogProps) => {
  const { params } = useWorkplace()
  return <ActionDialog action={createKey({ params, only: 'attestation', onCreated })} onClose={onClose} />
}
