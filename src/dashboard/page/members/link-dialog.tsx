// A one-time link, for whoever made it to pass on.
import type { OneTimeLink } from '../api/types.ts'
import { SecretDialog } from '../ui/secret.tsx'
import { Time } from '../ui/time.tsx'

interface LinkDialogProps {
  readonly title: string
  readonly link: OneTimeLink
  readonly onClose: () => void
}

export const LinkDialog = ({ title, link, onClose }: LinkDialogProps) => (
  <SecretDialog
    title={title}
    label="The link"
    text={link.url}
    lead={
      <>
        With it they set their password. Send it to them, and to nobody else, by a way that you trust: whoever opens it
        first has the account. It ends <Time at={link.expires_at} />.
      </>
    }
    onClose={onClose}
  />
)

/** The link that makes a member of someone who has an account. */
export const AcceptanceDialog = ({ title, link, onClose }: LinkDialogProps) => (
  <SecretDialog
    title={title}
    label="The link"
    text={link.url}
    lead={
      <>
        This address has an account already. They become a member when they open this link, sign in and accept. Send it
        to the person that you mean, by a way that you trust: without it nobody can accept, not even whoever holds the
        account. It ends <Time at={link.expires_at} />.
      </>
    }
    onClose={onClose}
  />
)
