// One-time links, which their creator forwards to the recipient.
import type { OneTimeLink } from '../api/types.ts'
import { type Outcome, showSecret } from '../ui/actions.tsx'
import { Time } from '../ui/time.tsx'

const showLink = ({ url, expires_at: at }: OneTimeLink, text: string): Outcome =>
  showSecret('Share this link', 'Link', url, [`${text} It expires `, <Time key="at" at={at} />, '.'])

export const showInvitation = (link: OneTimeLink): Outcome =>
  showLink(link, 'Send it over a trusted channel. The first person to open it sets the account’s password.')

export const showAcceptance = (link: OneTimeLink): Outcome =>
  showLink(
    link,
    'This email address already has an account. To become a member, the person must sign in and open this link. Send it over a trusted channel.',
  )
