// Checks whether a wallet belongs to a verified identity. Source: spec B4; decisions §5, "Not verified".
import type { WalletAddress } from '../../domain/address.ts'
import type { CheckType, SessionStatus } from '../../domain/session.ts'
import type { VerifiedWallet } from '../../domain/standing.ts'
import { isoTime } from '../../lib/time.ts'
import type { KnownStanding, StandingCaller } from '../standing/standing.ts'
import type { Standings } from '../standing/standings.ts'

export type VerificationAnswer =
  | { readonly address: string; readonly verified: false }
  | {
      readonly address: string
      readonly verified: boolean
      readonly status: SessionStatus | null
      readonly userId?: string
      readonly checkType: CheckType | null
      readonly verifiedAt: string | null
      readonly wallets: readonly VerifiedWallet[]
    }

const buildVerification = (address: string, standing: KnownStanding): VerificationAnswer => {
  const { verifying, status, userId, wallets } = standing
  if (status === null) return { address, verified: false }
  const verifiedAtSeconds = verifying?.completedAtSeconds ?? null
  return {
    address,
    verified: verifying !== null,
    status,
    ...(userId === null ? {} : { userId }),
    checkType: verifying?.checkType ?? null,
    verifiedAt: verifiedAtSeconds === null ? null : isoTime(verifiedAtSeconds),
    wallets,
  }
}

export type VerifyWallet = (
  caller: StandingCaller,
  request: {
    readonly address: WalletAddress
    readonly addressAsSent: string
    readonly checkType: CheckType | null
    readonly chain: string | null
  },
) => VerificationAnswer | Promise<VerificationAnswer>

export const createVerifyWallet =
  (standings: Pick<Standings, 'find'>): VerifyWallet =>
  (caller, { address, addressAsSent, checkType, chain }) => {
    const found = standings.find(caller, address, checkType, chain)
    return found instanceof Promise
      ? found.then((standing) => buildVerification(addressAsSent, standing))
      : buildVerification(addressAsSent, found)
  }
