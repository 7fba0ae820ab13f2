// Passkeys: kept by a device or a password manager, bound to this dashboard's address, so that nothing can be phished.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { Passkey } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { useForm } from '../data/use-form.ts'
import { useRead } from '../data/use-query.ts'
import { makePasskey, passkeysPossible } from '../entry/passkey.ts'
import { useSession } from '../shell/session.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { ConfirmDialog, FormDialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Card } from '../ui/parts.tsx'
import { Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { say } from '../ui/toast.tsx'

interface DialogProps {
  readonly onClose: () => void
  readonly onDone: () => void
}

const AddPasskey = ({ onClose, onDone }: DialogProps) => {
  const form = useForm({
    initial: { name: '' },
    check: ({ name }) => (name.trim() === '' ? { name: 'Say where it will be kept.' } : {}),
    submit: async ({ name }): Promise<void> => {
      await makePasskey(name.trim())
      say('Passkey kept; your other sessions have ended')
      onDone()
      onClose()
    },
  })
  return (
    <FormDialog title="Add a passkey" form={form} submitLabel="Make it" onClose={onClose}>
      <TextField
        {...form.text('name')}
        label="Name"
        hint="Where it will be kept, as “laptop” or “security key”."
        input={{ maxLength: 100, autofocus: true }}
      />
    </FormDialog>
  )
}

const RemovePasskey = ({ passkey, onClose, onDone }: DialogProps & { readonly passkey: Passkey }) => {
  const action = useAction(async () => {
    await call('DELETE /me/passkeys/{passkey}', { params: { passkey: passkey.id } })
    say('Passkey removed; your other sessions have ended')
    onDone()
    onClose()
  })
  return (
    <ConfirmDialog
      title={`Remove ${passkey.name}?`}
      confirmLabel="Remove the passkey"
      action={action}
      onClose={onClose}
    >
      <p>
        It opens this account no longer. Remove it on the device as well, where it would be offered in vain. Your other
        sessions end.
      </p>
    </ConfirmDialog>
  )
}

export const Passkeys = () => {
  const [adding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<Passkey | null>(null)
  const query = useRead('GET /me/passkeys')
  const { refresh } = useSession()
  const onDone = (): void => {
    query.reload()
    void refresh()
  }
  const possible = passkeysPossible()
  return (
    <Card
      flush
      title="Passkeys"
      text="One touch in place of password and code."
      actions={
        possible && (
          <Button small icon="plus" onClick={() => setAdding(true)}>
            Add a passkey
          </Button>
        )
      }
    >
      <Loaded query={query}>
        {(value) =>
          value.data.length === 0 ? (
            <p class="card-note soft">
              {possible
                ? 'None yet.'
                : 'Not at this address: open the dashboard by a name, over https or as localhost, in a current browser.'}
            </p>
          ) : (
            <Table<Passkey>
              caption="Your passkeys"
              rows={value.data}
              rowKey={({ id }) => id}
              columns={{
                Name: ({ name }) => <strong>{name}</strong>,
                'Last used': { narrow: true, cell: ({ last_used_at: at }) => <Time at={at} /> },
                '': (passkey) => (
                  <IconButton icon="trash" label={`Remove ${passkey.name}`} onClick={() => setRemoving(passkey)} />
                ),
              }}
            />
          )
        }
      </Loaded>
      {adding && <AddPasskey onClose={() => setAdding(false)} onDone={onDone} />}
      {removing !== null && <RemovePasskey passkey={removing} onClose={() => setRemoving(null)} onDone={onDone} />}
    </Card>
  )
}
