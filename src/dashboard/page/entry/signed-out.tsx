// Sign-in on a separate page, and above a page whose session has ended.
import { Dialog } from '../ui/dialog.tsx'
import { EntryFrame } from './entry-frame.tsx'
import { NoAccountYet } from './no-account-yet.tsx'
import { SignInForm } from './sign-in.tsx'

type Done = Parameters<typeof SignInForm>[0]['onDone']

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
