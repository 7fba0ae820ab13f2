// One-time codes from an authenticator app. A first code proves that the app has the secret.
import { counted } from '../../../lib/counted.ts'
import { call } from '../api/client.ts'
import { useSession } from '../shell/session.ts'
import { ActionButton, ActionDialog, action, showSecret } from '../ui/actions.tsx'
import { Copyable } from '../ui/copy.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Badge, Card } from '../ui/parts.tsx'

const QrCode = lazy(async () => (await import('./qr-code.tsx')).QrCode)

const RECOVERY_CODES_FEW = 3

const confirmSecret = ({ secret, uri }: { readonly secret: string; readonly uri: string }) =>
  action({
    label: 'Turn on',
    title: 'Set up one-time codes',
    text: (
      <>
        <p>
          Scan this QR code with your authenticator app, or enter the secret. When you turn on one-time codes, your
          other sessions end.
        </p>
        <QrCode text={uri} label="Secret for your authenticator app" />
        <Copyable text={secret} label="secret" />
      </>
    ),
    fields: {
      code: {
        label: 'Code from the app',
        mono: true,
        maxLength: 7,
        autocomplete: 'one-time-code',
        pattern: [/^\d{3} ?\d{3}$/, 'Enter the six-digit code.'],
      },
    },
    run: ({ code }) => call('POST /me/totp/confirm', { body: { code: code.replaceAll(' ', '') } }),
    done: ({ recovery_codes: codes }) =>
      showSecret(
        'Recovery codes',
        'Recovery codes',
        codes.join('\n'),
        'If you can’t use your app, sign in with one of these codes. Each code works once.',
      ),
  })

export const OneTimeCodes = () => {
  const { account, refresh } = useSession()
  const { has_totp: on, recovery_codes_left: left } = account
  const reload = (): void => void refresh()
  const turnOn = action({
    label: 'Turn on',
    run: () => call('POST /me/totp'),
    done: (secret) => (close) => <ActionDialog action={confirmSecret(secret)} onClose={close} onDone={reload} />,
  })
  const turnOff = action({
    label: 'Turn off',
    danger: true,
    title: 'Turn off one-time codes?',
    text: 'You will sign in with only your password, or with a passkey. Your recovery codes stop working, and your other sessions end.',
    run: () => call('POST /me/totp/remove'),
    done: 'One-time codes are off. Your other sessions have ended.',
  })
  return (
    <Card
      title={
        <>
          One-time codes <Badge tone={on ? 'good' : 'plain'}>{on ? 'On' : 'Off'}</Badge>
        </>
      }
      text="A code from an authenticator app, required after your password."
      actions={<ActionButton small action={on ? turnOff : turnOn} onDone={reload} />}
    >
      {on && (
        <p class={left < RECOVERY_CODES_FEW ? undefined : 'soft'}>
          {counted(left, 'recovery code', 'recovery codes')} left.
          {left < RECOVERY_CODES_FEW && ' To get new ones, turn one-time codes off and on again.'}
        </p>
      )}
    </Card>
  )
}
