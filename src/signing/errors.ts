// What can go wrong with keys and signatures, in words for the operator. No message here ever holds a key, a
// passphrase or a part of a keystore's text (invariant 5), and no cause is kept where its text could.

/** The base. `detail` is chosen text that may be logged; it is not meant for callers of the API. */
export class SigningError extends Error {
  override readonly name: string = 'SigningError'
  readonly detail: string

  constructor(detail: string) {
    super(detail)
    this.detail = detail
  }
}

/** No signature can be made: a backend that does not work, an invalid key, a wrong length, a library's refusal. */
export class SignerUnusableError extends SigningError {
  override readonly name = 'SignerUnusableError'
}

/** A statement that has no encoding: a number out of its range, an address or data that is not hex. */
export class StatementInvalidError extends SigningError {
  override readonly name = 'StatementInvalidError'
}

/** The passphrase does not open the keystore. */
export class KeystoreLockedError extends SigningError {
  override readonly name = 'KeystoreLockedError'
}

/** The file can't be read, is not a keystore, is damaged, or asks for more work than is allowed. */
export class KeystoreInvalidError extends SigningError {
  override readonly name = 'KeystoreInvalidError'
}

/** A keystore for this address is already in the folder; a key is never overwritten. */
export class KeystoreExistsError extends SigningError {
  override readonly name = 'KeystoreExistsError'
}

/** The text offered for import is not a private key of the named format. */
export class PrivateKeyInvalidError extends SigningError {
  override readonly name = 'PrivateKeyInvalidError'
}

/** The key in the keystore is not the attester's: signing with it would be refused by every contract. */
export class AttesterMismatchError extends SigningError {
  override readonly name = 'AttesterMismatchError'
}
