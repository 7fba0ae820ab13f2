// Sign-in with a password and a second factor, or with a passkey, which counts as both.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { SignedIn } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { useForm } from '../data/use-form.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { Problem } from '../ui/problem.tsx'
import { passkeysPossible, signInWithPasskey } from './passkey.ts'

type Factor = SignedIn['second_factors'][number]

interface SignInFormProps {
  readonly onDone: () => Promise<void>
  readonly email?: string
}

const PasskeyButton = ({ onDone, label }: { readonly onDone: () => Promise<void>; readonly label: string }) => {
  const action = useAction(async () => {
    await signInWithPasskey()
    await onDone()
  })
  if (!passkeysPossible()) return null
  return (
    <div class="entry-passkey">
      <Problem error={action.failure} />
      <Button icon="fingerprint" busy={action.busy} onClick={() => action.run()}>
        {label}
      </Button>
    </div>
  )
}

const CodeForm = ({
  factors,
  onDone,
  onBack,
}: {
  readonly factors: readonly Factor[]
  readonly onDone: () => Promise<void>
  readonly onBack: () => void
}) => {
  const form = useForm({
    initial: { code: '' },
    check: ({ code }) => (code.trim() === '' ? { code: 'Enter a code.' } : {}),
    submit: async ({ code }): Promise<void> => {
      await call('POST /sign-in/code', { body: { code: code.replaceAll(' ', '') } })
      await onDone()
    },
  })
  const takesCodes = factors.includes('totp') || factors.includes('recovery-code')
  return (
    <div class="form">
      {takesCodes && (
        <form {...form.attributes} class="form">
          <TextField
            {...form.text('code')}
            label="Code"
            hint="The six-digit code from your authenticator app, or a recovery code."
            mono
            input={{ autocomplete: 'one-time-code', inputMode: 'text', maxLength: 26, autofocus: true }}
          />
          <Problem error={form.failure} />
          <Button kind="primary" submit busy={form.busy}>
            Continue
          </Button>
        </form>
      )}
      {factors.includes('passkey') && <PasskeyButton onDone={onDone} label="Use your passkey" />}
      <Button kind="quiet" onClick={onBack}>
        Start again
      </Button>
    </div>
  )
}

export const SignInForm = ({ onDone, email = '' }: SignInFormProps) => {
  const [owed, setOwed] = useState<readonly Factor[] | null>(null)
  const form = useForm({
    initial: { email, password: '' },
    check: (values) => ({
      ...(values.email.trim() === '' ? { email: 'Enter your email address.' } : {}),
      ...(values.password === '' ? { password: 'Enter your password.' } : {}),
    }),
    submit: async (values): Promise<void> => {
      const { signed_in, second_factors } = await call('POST /sign-in', {
        body: { email: values.email.trim(), password: values.password },
      })
      if (signed_in) await onDone()
      else setOwed(second_factors)
    },
  })
  if (owed !== null) return <CodeForm factors={owed} onDone={onDone} onBack={() => setOwed(null)} />
  return (
    <div class="form">
      <form {...form.attributes} class="form">
        <TextField
          {...form.text('email')}
          label="Email"
          type="email"
          input={{ autocomplete: 'username webauthn', autofocus: email === '' }}
        />
        <TextField
          {...form.text('password')}
          label="Password"
          type="password"
          input={{ autocomplete: 'current-password', autofocus: email !== '' }}
        />
        <Problem error={form.failure} />
        <Button kind="primary" submit busy={form.busy}>
          Sign in
        </Button>
      </form>
      <PasskeyButton onDone={onDone} label="Sign in with a passkey" />
    </div>
  )
}
