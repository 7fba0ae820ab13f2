// Errors of the verification page's server, in addition to those of identity.
import { fixedError } from '../domain/errors.ts'

/** The link is malformed, does not exist, or has ended. */
export class LinkUnknownError extends fixedError(
  'NOT_FOUND',
  'this link does not work, or no longer; ask whoever sent it for a new one',
) {}

/** The person has not agreed to the text yet: nothing is accepted before. */
export class AgreementMissingError extends fixedError('SESSION_CONFLICT', 'agree to the verification first') {}

/** The person agreed to another version of the text than the current one. */
export class AgreementOutdatedError extends fixedError('SESSION_CONFLICT', 'the text has changed; read it again') {}

/** The session was submitted while something is missing. */
export class EvidenceIncompleteError extends fixedError('SESSION_CONFLICT', 'something is still missing') {}

/** The proof is valid, but the session does not have this wallet. */
export class WalletForeignError extends fixedError(
  'SESSION_CONFLICT',
  'this wallet does not belong to this verification',
) {}

/** The address's capital letters are not its checksum, most likely because of a typing error. Source: EIP-55. */
export class AddressChecksumError extends fixedError(
  'INVALID_FIELD',
  'the address has a typing error: its capital letters do not match',
) {}

/** An upload without content. */
export class DocumentBodyMissingError extends fixedError('INVALID_REQUEST', 'the document is empty') {}
