// Errors about keys and signatures, for the operator. Messages and causes never contain a key, a passphrase or a part
// of a keystore (invariant 5).
import { DetailedError } from '../lib/named-error.ts'

/** `detail` is a fixed text that may be logged. It is not meant for API clients. */
export class SigningError extends DetailedError {}

/**
 * No signature can be made: the backend does not work, the key is invalid, a length is wrong, or the library reports an
 * error.
 */
export class SignerUnusableError extends SigningError {}

export class StatementInvalidError extends SigningError {}

export class KeystoreLockedError extends SigningError {}

/** The file is unreadable, damaged or not a keystore, or its key derivation exceeds the work limit. */
export class KeystoreInvalidError extends SigningError {}

/** The folder already contains a keystore for this address. A key is never overwritten. */
export class KeystoreExistsError extends SigningError {}

export class PrivateKeyInvalidError extends SigningError {}

/** The keystore's key is not the attester's key: every contract would reject its signatures. */
export class AttesterMismatchError extends SigningError {}

/**
 * The hardware token does not answer, reports an error or was removed. It may return, so a later request opens it
 * again.
 */
export class TokenUnavailableError extends SigningError {}

/**
 * The token cannot be used as configured: the module, label, PIN or key is wrong. The operator must change the
 * configuration.
 */
export class TokenUnusableError extends SigningError {}
