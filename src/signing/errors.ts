// Errors with keys and signatures, in words for the operator. No message ever holds a key, a passphrase or a part of a
// keystore's text (invariant 5), and no cause is kept whose text could.
import { DetailedError } from '../lib/named-error.ts'

/** Base class. `detail` is a text of our choice that may be logged; it is not meant for callers of the API. */
export class SigningError extends DetailedError {}

/**
 * No signature can be made: the backend does not work, the key is invalid, a length is wrong, or the library refuses.
 */
export class SignerUnusableError extends SigningError {}

/** The statement can't be encoded: a number is out of range, or an address or data is not hex. */
export class StatementInvalidError extends SigningError {}

/** The passphrase does not open the keystore. */
export class KeystoreLockedError extends SigningError {}

/** The file can't be read, is not a keystore, is damaged, or asks for more work than we allow. */
export class KeystoreInvalidError extends SigningError {}

/** The folder already has a keystore for this address; a key is never overwritten. */
export class KeystoreExistsError extends SigningError {}

/** The text offered for import is not a private key of the named format. */
export class PrivateKeyInvalidError extends SigningError {}

/** The keystore holds another key than the attester's: every contract would refuse its signatures. */
export class AttesterMismatchError extends SigningError {}

/**
 * The hardware token does not answer, or answers with an error, or was taken out. It may be back later, so the next try
 * after a moment opens it again.
 */
export class TokenUnavailableError extends SigningError {}

/** The token can't be used as configured: module, label, PIN or key are wrong. Only a change by the operator helps. */
export class TokenUnusableError extends SigningError {}
