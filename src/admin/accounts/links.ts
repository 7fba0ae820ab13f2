// Single-use links. Browsers don't send the secret, which is in the URL's fragment; the store contains only its hash.
import type { Clock } from '../../lib/time.ts'
import type { UserLinkPurpose } from '../../store/accounts/user-links.ts'
import type { Tables } from '../../store/store.ts'
import type { PersonActor } from '../actor.ts'
import { recordCreator, recordHolder } from '../second-person/approvers.ts'
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

const OFFER_LIFE_SECONDS = LIFE_SECONDS.invitation

interface OfferCode {
  readonly text: string
  readonly hash: Uint8Array
  readonly expiresAtSeconds: number
}

export const newOfferCode = (clock: Clock): OfferCode => ({
  ...newToken(),
  expiresAtSeconds: clock.unixSeconds() + OFFER_LIFE_SECONDS,
})

export const offerLink = (dashboardUrl: string, offerId: string, code: OfferCode): NewLink => ({
  url: `${dashboardUrl}/account#${offerId}.${code.text}`,
  expiresAtSeconds: code.expiresAtSeconds,
})

/** @param account null for the first account; its holder (see `holderOf`) is null if nobody receives the link */
export const makeLink = async (
  tables: Pick<Tables, 'userLinks' | 'accountMakers'>,
  clock: Clock,
  dashboardUrl: string,
  purpose: UserLinkPurpose,
  account: { readonly userId: string; readonly holder: string | null } | null,
): Promise<NewLink> => {
  const { text, hash } = newToken()
  const expiresAtSeconds = clock.unixSeconds() + LIFE_SECONDS[purpose]
  await tables.userLinks.replace({ purpose, userId: account?.userId ?? null, expiresAtSeconds }, hash)
  if (account !== null && account.holder !== null) await recordHolder(tables, account.holder, account.userId, null)
  return { url: `${dashboardUrl}/welcome#${text}`, expiresAtSeconds }
}

/** Creates a link for a new password. @param by recipient of the link: an account, or COMMAND_LINE */
export const recoverAccount = async (
  tables: Tables,
  clock: Clock,
  dashboardUrl: string,
  userId: string,
  { by, removeSecondFactors }: { readonly by: string; readonly removeSecondFactors: boolean },
): Promise<NewLink> => {
  await recordCreator(tables, by, userId, null, 'recovered')
  if (removeSecondFactors) {
    await tables.users.removeTotp(userId)
    await tables.users.setRecoveryCodes(userId, [])
    for (const passkey of await tables.passkeys.listOf(userId)) await tables.passkeys.remove(userId, passkey.id)
    await tables.userSessions.endAll(userId)
  }
  return makeLink(tables, clock, dashboardUrl, 'recovery', { userId, holder: by })
}

/** Ends other sessions and newer recovery links. Someone who only knows the password must not end older links. */
export const endOtherAccess = async (
  tables: Pick<Tables, 'userLinks' | 'userSessions'>,
  { user, session }: PersonActor,
): Promise<number> => {
  await tables.userLinks.endRecoveries(user.id, session.createdAtSeconds + LIFE_SECONDS.recovery)
  return tables.userSessions.endAll(user.id, session.id)
}
