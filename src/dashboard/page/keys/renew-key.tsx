// A key’s end: another in its place while both work for a while, or no key at all.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { ApiKey } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { useForm } from '../data/use-form.ts'
import { useWorkplace } from '../shell/session.ts'
import { ConfirmDialog, FormDialog } from '../ui/dialog.tsx'
import { SelectField } from '../ui/field.tsx'
import { SecretDialog } from '../ui/secret.tsx'
import { say } from '../ui/toast.tsx'

interface KeyDialogProps {
  readonly apiKey: ApiKey
  readonly onClose: () => void
  readonly onDone: () => void
}

const OVERLAPS = [
  { value: '3600', label: 'Another hour' },
  { value: '86400', label: 'Another day' },
  { value: '604800', label: 'Another week' },
  { value: '2592000', label: 'Another 30 days' },
  { value: '0', label: 'No longer: it ends now' },
]

export const RegenerateKey = ({ apiKey, onClose, onDone }: KeyDialogProps) => {
  const { params } = useWorkplace()
  const [made, setMade] = useState<string | null>(null)
  const form = useForm({
    initial: { overlap_seconds: '86400' },
    submit: async (values): Promise<void> => {
      const { key } = await call('POST /organizations/{organization}/keys/{key}/regenerate', {
        params: { ...params, key: apiKey.id },
        body: { overlap_seconds: Number(values.overlap_seconds) },
      })
      onDone()
      setMade(key ?? '')
    },
  })
  if (made !== null) {
    return <SecretDialog title="The new key" label="The new key" text={made} onClose={onClose} />
  }
  return (
    <FormDialog title={`Regenerate ${apiKey.name}`} form={form} submitLabel="Make the new key" onClose={onClose}>
      <p class="confirm-text">
        A new key with the same name, kind and limit takes its place. Deploy it while the old one still works, so that
        nothing is interrupted.
      </p>
      <SelectField {...form.text('overlap_seconds')} label="The old key works for" choices={OVERLAPS} />
    </FormDialog>
  )
}

export const RevokeKey = ({ apiKey, onClose, onDone }: KeyDialogProps) => {
  const { params } = useWorkplace()
  const action = useAction(async () => {
    await call('POST /organizations/{organization}/keys/{key}/revoke', { params: { ...params, key: apiKey.id } })
    onDone()
    onClose()
    say('Key revoked')
  })
  return (
    <ConfirmDialog title={`Revoke ${apiKey.name}?`} confirmLabel="Revoke the key" action={action} onClose={onClose}>
      <p>Every request with this key is refused from now on, everywhere within a second. This can’t be undone.</p>
    </ConfirmDialog>
  )
}
