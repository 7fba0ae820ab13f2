// One-time links: to make the first account, to take up an invitation, to set a new password. The secret is in the part
// of the address that browsers keep to themselves, so no server's log has it; here only its hash is kept.
import type { Clock } from '../../domain/time.ts'
import type { UserLinkPurpose, UserLinkTable } from '../../store/user-links.ts'
import { newToken } from './token.ts'

const LIFE_SECONDS: Readonly<Record<UserLinkPurpose, number>> = {
  'first-admin': 86_400,
  invitation: 604_800,
  recovery: 86_400,
}

export interface NewLink {
  readonly url: string
  readonly expiresAtSeconds: number
}

/** @param dashboardUrl without a slash at the end */
export const makeLink = async (
  table: UserLinkTable,
  clock: Clock,
  dashboardUrl: string,
  purpose: UserLinkPurpose,
  userId: string | null,
): Promise<NewLink> => {
  const { text, hash } = newToken()
  const expiresAtSeconds = clock.unixSeconds() + LIFE_SECONDS[purpose]
  await table.replace({ purpose, userId, expiresAtSeconds }, hash)
  return { url: `${dashboardUrl}/welcome#${text}`, expiresAtSeconds }
}
