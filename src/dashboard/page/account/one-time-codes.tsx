// One-time codes of an authenticator app: switched on with a code that proves the app has the secret, and with recovery
// codes that are shown once.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { useForm } from '../data/use-form.ts'
import { useSession } from '../shell/session.ts'
import { Button } from '../ui/button.tsx'
import { Copyable } from '../ui/copy.tsx'
import { FormDialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Badge, Card } from '../ui/parts.tsx'
import { SecretDialog } from '../ui/secret.tsx'
import { say } from '../ui/toast.tsx'

const QrCode = lazy(async () => (await import('./qr-code.tsx')).QrCode)

type State =
  | { readonly kind: 'password' }
  | { readonly kind: 'scan'; readonly secret: string; readonly uri: string }
  | { readonly kind: 'codes'; readonly codes: readonly string[] }

interface DialogProps {
  readonly onClose: () => void
}

/** What is owed before a second factor may be changed. */
const usePasswordForm = (submit: (password: string) => Promise<void>) =>
  useForm({
    initial: { password: '' },
    check: ({ password }) => (password === '' ? { password: 'Enter your password.' } : {}),
    submit: ({ password }) => submit(password),
  })

const SwitchOn = ({ onClose }: DialogProps) => {
  const { refresh } = useSession()
  const [state, setState] = useState<State>({ kind: 'password' })
  const password = usePasswordForm(async (text) =>
    setState({ kind: 'scan', ...(await call('POST /me/totp', { body: { password: text } })) }),
  )
  const code = useForm({
    initial: { code: '' },
    check: ({ code: digits }) => (/^\d{6}$/.test(digits.replaceAll(' ', '')) ? {} : { code: 'Six digits.' }),
    submit: async ({ code: digits }): Promise<void> => {
      const { recovery_codes } = await call('POST /me/totp/confirm', { body: { code: digits.replaceAll(' ', '') } })
      setState({ kind: 'codes', codes: recovery_codes })
      await refresh()
    },
  })
  if (state.kind === 'codes') {
    return (
      <SecretDialog
        title="Your recovery codes"
        lead="Each is good once, in place of a code, when the app is not at hand."
        label="Recovery codes"
        text={state.codes.join('\n')}
        onClose={onClose}
      />
    )
  }
  if (state.kind === 'scan') {
    return (
      <FormDialog title="Scan and confirm" form={code} submitLabel="Switch them on" onClose={onClose}>
        <p class="confirm-text">Scan this with your authenticator app, or type the secret in.</p>
        <QrCode text={state.uri} label="Secret for your authenticator app" />
        <Copyable text={state.secret} label="secret" />
        <TextField
          {...code.text('code')}
          label="The code that the app shows now"
          mono
          input={{ autocomplete: 'one-time-code', inputMode: 'numeric', maxLength: 7 }}
        />
      </FormDialog>
    )
  }
  return (
    <FormDialog title="Use one-time codes" form={password} submitLabel="Continue" onClose={onClose}>
      <TextField
        {...password.text('password')}
        label="Your password"
        type="password"
        input={{ autocomplete: 'current-password', autofocus: true }}
      />
    </FormDialog>
  )
}

const SwitchOff = ({ onClose }: DialogProps) => {
  const { refresh } = useSession()
  const form = usePasswordForm(async (password) => {
    await call('POST /me/totp/remove', { body: { password } })
    await refresh()
    say('One-time codes are off')
    onClose()
  })
  return (
    <FormDialog
      title="Stop using one-time codes?"
      form={form}
      submitLabel="Switch them off"
      submitKind="danger"
      onClose={onClose}
    >
      <p class="confirm-text">
        Your password alone, or a passkey, signs you in from then on. The recovery codes end, too.
      </p>
      <TextField
        {...form.text('password')}
        label="Your password"
        type="password"
        input={{ autocomplete: 'current-password', autofocus: true }}
      />
    </FormDialog>
  )
}

export const OneTimeCodes = () => {
  const { account } = useSession()
  const [open, setOpen] = useState<'on' | 'off' | null>(null)
  const on = account.has_totp
  return (
    <Card
      title={
        <>
          One-time codes <Badge tone={on ? 'good' : 'plain'}>{on ? 'On' : 'Off'}</Badge>
        </>
      }
      text="Six digits of an app on your phone, asked for after the password."
      actions={
        <Button small onClick={() => setOpen(on ? 'off' : 'on')}>
          {on ? 'Switch off' : 'Switch on'}
        </Button>
      }
    >
      {on && (
        <p class={account.recovery_codes_left < 3 ? undefined : 'soft'}>
          {account.recovery_codes_left} recovery codes are left.
          {account.recovery_codes_left < 3 && ' Switch off and on again for new ones.'}
        </p>
      )}
      {open === 'on' && <SwitchOn onClose={() => setOpen(null)} />}
      {open === 'off' && <SwitchOff onClose={() => setOpen(null)} />}
    </Card>
  )
}
