// Passkeys in the browser: options and credentials as JSON. Source: Web Authentication, level 3, section 5.1.
import { type AnswerOf, call } from '../api/client.ts'
import { PasskeyRefusedError } from '../api/errors.ts'

type Json = Readonly<Record<string, unknown>>

/**
 * Returns whether this browser supports passkeys at this address: they require a host name, and https or this machine.
 */
export const passkeysPossible = (): boolean =>
  window.isSecureContext &&
  typeof PublicKeyCredential === 'function' &&
  typeof PublicKeyCredential.parseCreationOptionsFromJSON === 'function' &&
  !/^[\d.]+$|^\[/.test(location.hostname)

const asJson = (credential: Credential | null): Json => {
  if (!(credential instanceof PublicKeyCredential)) throw new PasskeyRefusedError('no passkey was used')
  return credential.toJSON() as unknown as Json
}

/** Browsers intentionally give no details, so that pages can't detect existing passkeys. */
const refused = (error: unknown): unknown =>
  error instanceof DOMException ? new PasskeyRefusedError('no passkey was used') : error

type Asked = AnswerOf<'POST /sign-in/passkey/options'>

/** Returns the passkey's signed response. @throws PasskeyRefusedError */
const usePasskey = async ({ challenge_id, options }: Asked) => {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON,
  )
  const credential = await navigator.credentials.get({ publicKey }).catch((error: unknown) => {
    throw refused(error)
  })
  return { challenge_id, credential: asJson(credential) }
}

/** @throws PasskeyRefusedError, ApiError, NetworkError */
export const signInWithPasskey = async () =>
  call('POST /sign-in/passkey', { body: await usePasskey(await call('POST /sign-in/passkey/options')) })

/** Authenticates the signed-in user again. @throws PasskeyRefusedError, ApiError, NetworkError */
export const confirmWithPasskey = async () =>
  call('POST /me/confirm/passkey', { body: await usePasskey(await call('POST /me/confirm/passkey/options')) })

/** @throws PasskeyRefusedError, ApiError, NetworkError */
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
