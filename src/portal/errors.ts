// What the verification page's own server refuses, beside what identity refuses.
import { fixedError } from '../domain/errors.ts'

/** No such session, or not for this browser: the caller can't tell which, so a session's id opens nothing. */
export class BrowserUnknownError extends fixedError(
  'NOT_FOUND',
  'open this page with the link that you were sent, in the browser in which you began',
) {}

/** A link of the wrong shape, one that never was, or one that has ended. */
export class LinkUnknownError extends fixedError(
  'NOT_FOUND',
  'this link does not work, or no longer; ask whoever sent it for a new one',
) {}

/** Nothing is taken before the person has agreed to what becomes of it. */
export class AgreementMissingError extends fixedError('SESSION_CONFLICT', 'agree to the verification first') {}

/** Agreed to another text than the one that holds now. */
export class AgreementOutdatedError extends fixedError('SESSION_CONFLICT', 'the text has changed; read it again') {}

/** Handed in before everything was there. */
export class EvidenceIncompleteError extends fixedError('SESSION_CONFLICT', 'something is still missing') {}

/** The proof holds, and its wallet is none of the session's. */
export class WalletForeignError extends fixedError(
  'SESSION_CONFLICT',
  'this wallet does not belong to this verification',
) {}

/** An address whose capital letters don't add up: most likely a slip. Source: EIP-55. */
export class AddressChecksumError extends fixedError(
  'INVALID_FIELD',
  'the address has a typing error: its capital letters do not match',
) {}

/** An upload without content. */
export class DocumentBodyMissingError extends fixedError('INVALID_REQUEST', 'the document is empty') {}
