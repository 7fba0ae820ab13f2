import { call } from '../api/client.ts'
import { useAction } from '../data/use-action.ts'
import { useForm } from '../data/use-form.ts'
import { confirmWithPasskey, passkeysPossible } from '../entry/passkey.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { Problem } from '../ui/problem.tsx'
import { useSession } from './session.ts'

export const ConfirmationDialog = ({ onDone }: { readonly onDone: (confirmed: boolean) => void }) => {
  const { account } = useSession()
  const form = useForm({
    initial: { password: '' },
    check: ({ password }) => (password === '' ? { password: 'Enter your password.' } : {}),
    submit: async (body): Promise<void> => {
      await call('POST /me/confirm', { body })
      onDone(true)
    },
  })
  const passkey = useAction(async () => {
    await confirmWithPasskey()
    onDone(true)
  })
  return (
    <Dialog title="Confirm your identity" onClose={() => onDone(false)}>
      <form {...form.attributes} class="form">
        <p class="confirm-text">This change affects who has access. After five minutes, you will be asked again.</p>
        <input type="hidden" name="username" autocomplete="username" value={account.email ?? ''} />
        <TextField
          {...form.text('password')}
          label="Password"
          type="password"
          input={{ autocomplete: 'current-password', autofocus: true }}
        />
        <Problem error={form.failure ?? passkey.failure} />
        <div class="form-actions">
          <Button kind="primary" submit busy={form.busy}>
            Confirm
          </Button>
          {account.has_passkeys && passkeysPossible() && (
            <Button busy={passkey.busy} onClick={() => passkey.run()}>
              Use a passkey
            </Button>
          )}
          <Button kind="quiet" onClick={() => onDone(false)}>
            Cancel
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
