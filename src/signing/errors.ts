// Errors about keys and signatures. Messages and causes never contain a key, a passphrase or a part of a keystore
// (invariant 5).
import { DetailedError } from '../lib/named-error.ts'

/** `detail` is a fixed text for logs, not for API clients. */
export class SigningError extends DetailedError {}

/** No signature can be made: the backend, the key or a length is invalid, or the library reports an error. */
export class SignerUnusableError extends SigningError {}

export class StatementInvalidError extends SigningError {}

export class KeystoreLockedError extends SigningError {}

/** The file is unreadable, damaged or not a keystore, or its key derivation exceeds the work limit. */
export class KeystoreInvalidError extends SigningError {}

/** The folder already contains a keystore for this address. A key is never overwritten. */
export class KeystoreExistsError extends SigningError {}

export class PrivateKeyInvalidError extends SigningError {}

/** The keystore's key is not the attester's key: every contract would refuse its signatures. */
export class AttesterMismatchError extends SigningError {}

/** The hardware token does not respond, reports an error or was removed. A later request opens it again. */
export class TokenUnavailableError extends SigningError {}

/** The token's module, label, PIN or key is wrong. The operator must change the configuration. */
export class TokenUnusableError extends SigningError {}
