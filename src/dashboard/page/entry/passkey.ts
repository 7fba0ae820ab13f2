// Passkeys in the browser. Source: Web Authentication Level 3, section 5.1.
import { type AnswerOf, call } from '../api/client.ts'
import { PasskeyRefusedError } from '../api/errors.ts'

type Json = Readonly<Record<string, unknown>>

/** Passkeys require a host name and a secure context: https or localhost. */
export const passkeysPossible = (): boolean =>
  window.isSecureContext &&
  typeof PublicKeyCredential === 'function' &&
  typeof PublicKeyCredential.parseCreationOptionsFromJSON === 'function' &&
  !/^[\d.]+$|^\[/.test(location.hostname)

const asJson = (credential: Credential | null): Json => {
  if (!(credential instanceof PublicKeyCredential)) throw new PasskeyRefusedError('no passkey was used')
  return credential.toJSON() as unknown as Json
}

/** Browsers give no details, so that pages can't detect existing passkeys. */
const refused = (error: unknown): unknown =>
  error instanceof DOMException ? new PasskeyRefusedError('no passkey was used') : error

type Asked = AnswerOf<'POST /sign-in/passkey/options'>

const usePasskey = async ({ challenge_id, options }: Asked) => {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON,
  )
  const credential = await navigator.credentials.get({ publicKey }).catch((error: unknown) => {
    throw refused(error)
  })
  return { challenge_id, credential: asJson(credential) }
}

export const signInWithPasskey = async () =>
  call('POST /sign-in/passkey', { body: await usePasskey(await call('POST /sign-in/passkey/options')) })

/** Re-authenticates the signed-in user. @throws PasskeyRefusedError, ApiError, NetworkError */
export const confirmWithPasskey = async () =>
  call('POST /me/confirm/passkey', { body: await usePasskey(await call('POST /me/confirm/passkey/options')) })

export const makePasskey = async (name: string) => {
  const { challenge_id, options } = await call('POST /me/passkeys/options')
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as unknown as PublicKeyCredentialCreationOptionsJSON,
  )
  const credential = await navigator.credentials.create({ publicKey }).catch((error: unknown) => {
    throw refused(error)
  })
  return call('POST /me/passkeys', { body: { challenge_id, name, credential: asJson(credential) } })
}
