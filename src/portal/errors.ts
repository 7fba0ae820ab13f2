import { fixedError } from '../domain/errors.ts'

/** The link is malformed, unknown or expired. */
export class LinkUnknownError extends fixedError(
  'NOT_FOUND',
  'this link is invalid or has expired; request a new one from its sender',
) {}

export class AgreementMissingError extends fixedError('SESSION_CONFLICT', 'agree to the verification first') {}

export class AgreementOutdatedError extends fixedError(
  'SESSION_CONFLICT',
  'the consent text has changed: read it again',
) {}

export class EvidenceIncompleteError extends fixedError(
  'SESSION_CONFLICT',
  'some required steps are incomplete: complete them first',
) {}

/** The proof is valid, but the session has no such wallet. */
export class WalletForeignError extends fixedError(
  'SESSION_CONFLICT',
  'this wallet does not belong to this verification',
) {}

/** The capital letters don't match the EIP-55 checksum, probably because of a typo. */
export class AddressChecksumError extends fixedError(
  'INVALID_FIELD',
  'the address contains a typo: its capitalization does not match its checksum',
) {}

export class DocumentBodyMissingError extends fixedError('INVALID_REQUEST', 'the document is empty') {}
