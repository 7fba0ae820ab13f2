// One-time links: to make the first account, to take up an invitation, to set a new password. The secret is in the part
// of the address that browsers keep to themselves, so no server's log has it; here only its hash is kept.
import type { Clock } from '../../domain/time.ts'
import type { Tables } from '../../store/store.ts'
import type { UserLinkPurpose, UserLinkTable } from '../../store/user-links.ts'
import { recordMaker } from '../second-person/approvers.ts'
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

/** How long an offer of a membership can be taken up. */
const OFFER_LIFE_SECONDS = LIFE_SECONDS.invitation

export interface OfferCode {
  readonly text: string
  readonly hash: Uint8Array
  readonly expiresAtSeconds: number
}

export const newOfferCode = (clock: Clock): OfferCode => ({
  ...newToken(),
  expiresAtSeconds: clock.unixSeconds() + OFFER_LIFE_SECONDS,
})

/**
 * The link with which an offer is taken up by whoever is signed in to the account that it was made to.
 * @param dashboardUrl without a slash at the end
 */
export const offerLink = (dashboardUrl: string, offerId: string, code: OfferCode): NewLink => ({
  url: `${dashboardUrl}/account#${offerId}.${code.text}`,
  expiresAtSeconds: code.expiresAtSeconds,
})

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

/**
 * For whoever can't sign in any more: a link to set a new password with. Without its second factors the account's sessions
 * end at once; else using the link ends them.
 * @param dashboardUrl without a slash at the end
 * @param by who is handed the link: an account, or COMMAND_LINE
 */
export const recoverAccount = async (
  tables: Tables,
  clock: Clock,
  dashboardUrl: string,
  userId: string,
  { by, removeSecondFactors }: { readonly by: string; readonly removeSecondFactors: boolean },
): Promise<NewLink> => {
  await recordMaker(tables, by, userId, null, 'recovered')
  if (removeSecondFactors) {
    await tables.users.removeTotp(userId)
    await tables.users.setRecoveryCodes(userId, [])
    for (const passkey of await tables.passkeys.listOf(userId)) await tables.passkeys.remove(userId, passkey.id)
    await tables.userSessions.endAll(userId)
  }
  return makeLink(tables.userLinks, clock, dashboardUrl, 'recovery', userId)
}
