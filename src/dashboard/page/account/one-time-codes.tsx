// One-time codes of an authenticator app: switched on with a code that proves the app has the secret, and with recovery
// codes that are shown once.
import { useState } from 'preact/hooks'
import { counted } from '../../../lib/counted.ts'
import { call } from '../api/client.ts'
import { useAction } from '../data/use-action.ts'
import { useForm } from '../data/use-form.ts'
import { useSession } from '../shell/session.ts'
import { Button } from '../ui/button.tsx'
import { Copyable } from '../ui/copy.tsx'
import { ConfirmDialog, FormDialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Badge, Card } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { SecretDialog } from '../ui/secret.tsx'
import { say } from '../ui/toast.tsx'

const QrCode = lazy(async () => (await import('./qr-code.tsx')).QrCode)

interface Secret {
  readonly secret: string
  readonly uri: string
}

interface DialogProps {
  readonly onClose: () => void
}

const SwitchOn = ({ secret, uri, onClose }: DialogProps & Secret) => {
  const { refresh } = useSession()
  const [codes, setCodes] = useState<readonly string[] | null>(null)
  const code = useForm({
    initial: { code: '' },
    check: ({ code: digits }) => (/^\d{6}$/.test(digits.replaceAll(' ', '')) ? {} : { code: 'Six digits.' }),
    submit: async ({ code: digits }): Promise<void> => {
      const { recovery_codes } = await call('POST /me/totp/confirm', { body: { code: digits.replaceAll(' ', '') } })
      setCodes(recovery_codes)
      await refresh()
    },
  })
  if (codes !== null) {
    return (
      <SecretDialog
        title="Your recovery codes"
        lead="Each is good once, in place of a code, when the app is not at hand."
        label="Recovery codes"
        text={codes.join('\n')}
        onClose={onClose}
      />
    )
  }
  return (
    <FormDialog title="Scan and confirm" form={code} submitLabel="Switch them on" onClose={onClose}>
      <p class="confirm-text">
        Scan this with your authenticator app, or type the secret in. Your other sessions end once it is confirmed.
      </p>
      <QrCode text={uri} label="Secret for your authenticator app" />
      <Copyable text={secret} label="secret" />
      <TextField
        {...code.text('code')}
        label="The code that the app shows now"
        mono
        input={{ autocomplete: 'one-time-code', inputMode: 'numeric', maxLength: 7 }}
      />
    </FormDialog>
  )
}

const SwitchOff = ({ onClose }: DialogProps) => {
  const { refresh } = useSession()
  const action = useAction(async () => {
    await call('POST /me/totp/remove')
    await refresh()
    say('One-time codes are off; your other sessions have ended')
    onClose()
  })
  return (
    <ConfirmDialog title="Stop using one-time codes?" confirmLabel="Switch them off" action={action} onClose={onClose}>
      <p>
        Your password alone, or a passkey, signs you in from then on. The recovery codes and your other sessions end,
        too.
      </p>
    </ConfirmDialog>
  )
}

export const OneTimeCodes = () => {
  const { account } = useSession()
  const [secret, setSecret] = useState<Secret | null>(null)
  const [switchingOff, setSwitchingOff] = useState(false)
  const propose = useAction(async () => setSecret(await call('POST /me/totp')))
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
        <Button small busy={propose.busy} onClick={() => (on ? setSwitchingOff(true) : propose.run())}>
          {on ? 'Switch off' : 'Switch on'}
        </Button>
      }
    >
      {on && (
        <p class={account.recovery_codes_left < 3 ? undefined : 'soft'}>
          {counted(account.recovery_codes_left, 'recovery code is', 'recovery codes are')} left.
          {account.recovery_codes_left < 3 && ' Switch off and on again for new ones.'}
        </p>
      )}
      <Problem error={propose.failure} />
      {secret !== null && <SwitchOn {...secret} onClose={() => setSecret(null)} />}
      {switchingOff && <SwitchOff onClose={() => setSwitchingOff(false)} />}
    </Card>
  )
}
