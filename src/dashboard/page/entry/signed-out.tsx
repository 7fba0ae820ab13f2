// Sign-in, and one-time links that create an account or set a password. A link's secret is in the URL fragment, which
// browsers don't send; it is removed from the address bar after use.
import { useState } from 'preact/hooks'
import { type AnswerOf, call } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import { useForm } from '../data/use-form.ts'
import { useQuery, useRead } from '../data/use-query.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { CheckField, TextField } from '../ui/field.tsx'
import { Loading } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { EntryFrame } from './entry-frame.tsx'
import { checkPassword, PASSWORD_HINT } from './password.ts'
import { SignInForm } from './sign-in.tsx'

type Link = AnswerOf<'POST /welcome/check'>

const TITLES: Readonly<Record<Link['purpose'], string>> = {
  'first-admin': 'Create the first account',
  invitation: 'Accept your invitation',
  recovery: 'Set a new password',
}
const LEADS: Readonly<Record<Link['purpose'], string>> = {
  'first-admin':
    'This account manages the whole deployment: organizations, attester keys and other accounts. Afterwards, add a second factor under Account.',
  invitation: 'Choose a password for signing in.',
  recovery: 'Setting a new password ends your other sessions.',
}
const BUTTONS: Readonly<Record<Link['purpose'], string>> = {
  'first-admin': 'Create account',
  invitation: 'Accept invitation',
  recovery: 'Set password',
}

interface WelcomeProps {
  readonly token: string
  readonly onDone: (signedIn: boolean) => Promise<void>
}

const LinkForm = ({ link, token, onDone }: WelcomeProps & { readonly link: Link }) => {
  const [shown, setShown] = useState(false)
  const first = link.purpose === 'first-admin'
  const form = useForm({
    initial: { name: '', email: link.email ?? '', password: '' },
    check: ({ name, email, password }) => ({
      ...(first && name.trim() === '' ? { name: 'Enter your name.' } : {}),
      ...(first && !email.includes('@') ? { email: 'Enter your email address.' } : {}),
      ...checkPassword('password', password),
    }),
    submit: async ({ name, email, password }): Promise<void> => {
      const { signed_in } = await call('POST /welcome', {
        body: { token, password, ...(first ? { name: name.trim(), email: email.trim() } : {}) },
      })
      await onDone(signed_in)
    },
  })
  return (
    <EntryFrame title={TITLES[link.purpose]} lead={LEADS[link.purpose]}>
      <form {...form.attributes} class="form">
        {first && (
          <TextField {...form.text('name')} label="Your name" input={{ autocomplete: 'name', maxLength: 100 }} />
        )}
        {first ? (
          <TextField {...form.text('email')} label="Email" type="email" input={{ autocomplete: 'username' }} />
        ) : (
          <p>
            Account <strong>{link.email}</strong>
          </p>
        )}
        <TextField
          {...form.text('password')}
          label="Password"
          type={shown ? 'text' : 'password'}
          hint={PASSWORD_HINT}
          input={{ autocomplete: 'new-password', maxLength: 256 }}
        />
        <CheckField label="Show password" checked={shown} onChecked={setShown} />
        <Problem error={form.failure} />
        <Button kind="primary" submit busy={form.busy}>
          {BUTTONS[link.purpose]}
        </Button>
        <p class="faint">
          The link expires <Time at={link.expires_at} />.
        </p>
      </form>
    </EntryFrame>
  )
}

export const Welcome = ({ token, onDone }: WelcomeProps) => {
  const link = useQuery(() => call('POST /welcome/check', { body: { token } }), [token])
  if (link.value !== null) return <LinkForm link={link.value} token={token} onDone={onDone} />
  const { error } = link
  if (token === '' || (error instanceof ApiError && error.status < 500 && error.status !== 429)) {
    return (
      <EntryFrame title="This link does not work">
        <Notice tone="warn">
          <p>The link is incomplete, was already used, or has expired.</p>
          <p>
            For the first account, restart the service to print a new link. Otherwise, ask the sender for a new link.
          </p>
        </Notice>
        <ButtonLink href="/">Go to the dashboard</ButtonLink>
      </EntryFrame>
    )
  }
  return (
    <EntryFrame title="One moment">
      {error === null ? <Loading label="Checking the link" /> : <Problem error={error} retry={link.reload} />}
    </EntryFrame>
  )
}

type Done = Parameters<typeof SignInForm>[0]['onDone']

const NoAccountYet = () => {
  // Sign-in works without this response.
  const { value } = useRead('GET /sign-in')
  if (value === null || value.has_accounts) return null
  return (
    <Notice tone="info" title="No account yet">
      <p>
        When the service started, it printed a link that creates the first account and expires after a day. The link
        ends in <code>/welcome#…</code>. Find it in the terminal or the service’s log, with{' '}
        <code>docker compose logs</code> or <code>journalctl</code>. For a new link, restart the service.
      </p>
    </Notice>
  )
}

export const SignIn = ({ onDone }: { readonly onDone: Done }) => (
  <EntryFrame title="Sign in">
    <NoAccountYet />
    <SignInForm onDone={onDone} />
  </EntryFrame>
)

export const SignInAgain = ({ onDone, email }: { readonly onDone: Done; readonly email: string }) => (
  <Dialog title="Your session has ended">
    <p class="confirm-text">Sign in again to continue. Your input on this page is preserved.</p>
    <SignInForm onDone={onDone} email={email} />
  </Dialog>
)
