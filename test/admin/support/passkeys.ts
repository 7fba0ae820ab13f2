// Registration of passkeys and responses to their challenges.
import type { SoftwareAuthenticator } from './authenticator.ts'
import type { Harness } from './harness.ts'
import { type CallOptions, DASHBOARD } from './request.ts'

interface Offer {
  readonly challenge_id: string
  readonly options: {
    readonly challenge: string
    readonly rpId?: string
    readonly allowCredentials?: readonly { readonly id: string }[]
  }
}

export const offerChallenge = async (harness: Harness, path: string, options: CallOptions = {}): Promise<Offer> =>
  (await harness.call<Offer>('POST', path, { body: {}, ...options })).body

/** Body of the request that responds to a challenge with a passkey. */
export const answerOffer = (
  device: SoftwareAuthenticator,
  { challenge_id, options }: Offer,
  changes?: Parameters<SoftwareAuthenticator['get']>[3],
) => ({ challenge_id, credential: device.get(options.challenge, DASHBOARD, 'localhost', changes) })

export const addPasskey = async (
  harness: Harness,
  { cookie }: { readonly cookie: string },
  device: SoftwareAuthenticator,
): Promise<Response> => {
  const { challenge_id, options } = await offerChallenge(harness, '/me/passkeys/options', { cookie })
  const credential = device.create(options.challenge, DASHBOARD, 'localhost')
  return harness.request('POST', '/me/passkeys', { cookie, body: { challenge_id, name: 'Laptop', credential } })
}
