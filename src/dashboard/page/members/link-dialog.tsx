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
