// One-time codes, computed as an authenticator app does.
import { hotp, totpStep } from '../../../src/admin/accounts/totp.ts'
import { decodeBase32 } from './base32.ts'
import type { Harness } from './harness.ts'

interface SignedIn {
  readonly cookie: string
}

export const proposeTotp = async (harness: Harness, { cookie }: SignedIn): Promise<Uint8Array> =>
  decodeBase32((await harness.call<{ secret: string }>('POST', '/me/totp', { cookie, body: {} })).body.secret)

/** The code of the current step, or of another step at an offset. */
export const codeOf = ({ clock }: Harness, secret: Uint8Array, offset = 0): string =>
  hotp(secret, totpStep(clock.unixSeconds()) + offset)

const confirmTotp = (harness: Harness, { cookie }: SignedIn, secret: Uint8Array) =>
  harness.call<{ recovery_codes: string[] }>('POST', '/me/totp/confirm', {
    cookie,
    body: { code: codeOf(harness, secret) },
  })

export const enableTotp = async (harness: Harness, person: SignedIn) => {
  const secret = await proposeTotp(harness, person)
  const { status, body } = await confirmTotp(harness, person, secret)
  if (status !== 200) throw new Error(`the code was refused with ${status}`)
  return { secret, recoveryCodes: body.recovery_codes, code: (offset = 0) => codeOf(harness, secret, offset) }
}
