// What the administration refuses with. All are answers by design: chosen texts that repeat nothing of what was sent.
import { CountersignError, fixedError } from '../domain/errors.ts'
import type { OrganizationRole } from '../domain/role.ts'

/** No session, or one that has ended. */
export class SignInRequiredError extends fixedError(
  'UNAUTHENTICATED',
  'sign in, or send an admin key as Authorization: Bearer',
) {}

/** The password was right; a code or a passkey is still owed. */
export class SecondFactorRequiredError extends fixedError(
  'SECOND_FACTOR_REQUIRED',
  'the second factor is still owed',
) {}

/** Signed in without a second factor where one is required: there is only the account's own page, to make one. */
export class SecondFactorMissingError extends CountersignError {
  constructor(who: 'deployment' | 'organization') {
    super(
      'SECOND_FACTOR_MISSING',
      `this ${who} requires a second factor and your account has none: add one-time codes or a passkey to your account first`,
    )
  }
}

/** The session is good, but what it asks for needs the person to prove again who they are. */
export class ConfirmationRequiredError extends fixedError(
  'CONFIRMATION_REQUIRED',
  'this needs your password or a passkey again: send it to /me/confirm, then repeat the request within five minutes',
) {}

/** The change would wait for a second person, and the caller asked not to wait. */
export class ApprovalRequiredError extends fixedError(
  'APPROVAL_REQUIRED',
  'a second person has to approve this: leave X-Approval out, and it waits until someone does',
) {}

/** Wrong address, password, code, passkey or link: the caller can't tell which. Whoever is signed in stays so. */
export class CredentialWrongError extends CountersignError {
  constructor(what: 'password' | 'code' | 'passkey' | 'link') {
    const texts = {
      password: 'the email address or the password is wrong',
      code: 'the code is wrong or was used before',
      passkey: 'the passkey was not accepted',
      link: 'the link is unknown, used or too old; ask for another',
    } as const
    super('CREDENTIAL_WRONG', texts[what])
  }
}

/** Known, and not allowed. Where even the existence of something is not to be known, it is 404 instead. */
export class RoleInsufficientError extends CountersignError {
  constructor(needed: OrganizationRole | 'deployment-admin' | 'person') {
    super(
      'FORBIDDEN_ROLE',
      needed === 'person' ? 'this needs a person who is signed in, not a key' : `this needs the role ${needed}`,
    )
  }
}

/** A browser sent it from another site's page (threats row 23). */
export class OriginRefusedError extends fixedError(
  'FORBIDDEN_ORIGIN',
  'the request does not come from the dashboard',
) {}

/** The subject does not exist or belongs to another organization: the caller can't tell which. */
export class SubjectUnknownError extends CountersignError {
  constructor(what: string) {
    super('NOT_FOUND', `there is no such ${what}`)
  }
}

/** The change conflicts with the present state. */
export class ConflictError extends CountersignError {
  constructor(detail: string) {
    super('CONFLICT', detail)
  }
}

export class TooManyAttemptsError extends CountersignError {
  constructor(retryAfterSeconds: number) {
    super('RATE_LIMITED', 'too many attempts; wait and try again', { retryAfterSeconds })
  }
}

/** A command can't wait for a second person, and nothing overrides the rule. */
export class SecondPersonNeededError extends fixedError(
  'FORBIDDEN_ROLE',
  'a second person has to approve this: ask for it in the dashboard or the admin API',
) {}
