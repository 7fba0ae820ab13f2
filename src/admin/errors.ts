// Admin API errors. Their texts are fixed and never repeat request data.
import { CountersignError, fixedError } from '../domain/errors.ts'
import type { OrganizationRole } from '../store/accounts/role.ts'

export class SignInRequiredError extends fixedError(
  'UNAUTHENTICATED',
  'sign in, or send an admin key in the header Authorization: Bearer',
) {}

export class SecondFactorRequiredError extends fixedError(
  'SECOND_FACTOR_REQUIRED',
  'complete sign-in with your second factor',
) {}

/** The account lacks a required second factor. Only routes for the account itself are accessible. */
export class SecondFactorMissingError extends CountersignError {
  constructor(who: 'deployment' | 'organization') {
    super(
      'SECOND_FACTOR_MISSING',
      `this ${who} requires a second factor: add one-time codes or a passkey to your account first`,
    )
  }
}

export class ConfirmationRequiredError extends fixedError(
  'CONFIRMATION_REQUIRED',
  'this requires a recent confirmation: send your password or passkey to /me/confirm, then repeat the request within five minutes',
) {}

export class ApprovalRequiredError extends fixedError(
  'APPROVAL_REQUIRED',
  'a second person must approve this change: omit X-Approval to request an approval',
) {}

/** The text doesn't reveal which part is wrong. A signed-in person stays signed in. */
export class CredentialWrongError extends CountersignError {
  constructor(what: 'password' | 'code' | 'passkey' | 'link') {
    const texts = {
      password: 'the email address or the password is wrong',
      code: 'the code is wrong or has already been used',
      passkey: 'the passkey was not accepted',
      link: 'the link is invalid or expired, or was already used: request a new link',
    } as const
    super('CREDENTIAL_WRONG', texts[what])
  }
}

/** The caller may see the subject, but not perform the operation. Otherwise: SubjectUnknownError, 404. */
export class RoleInsufficientError extends CountersignError {
  constructor(needed: OrganizationRole | 'deployment-admin' | 'person') {
    super(
      'FORBIDDEN_ROLE',
      needed === 'person' ? 'this requires a signed-in person, not a key' : `this requires the role ${needed}`,
    )
  }
}

/** A browser sent the request from another site's page (threats row 23). */
export class OriginRefusedError extends fixedError(
  'FORBIDDEN_ORIGIN',
  'the request does not come from the dashboard',
) {}

export class ModuleLeftOutError extends CountersignError {
  constructor(module: string) {
    super(
      'NOT_FOUND',
      `the module ${module} is disabled: to enable it, remove it from the “without” setting and restart the service`,
    )
  }
}

/** The subject doesn't exist or belongs to another organization; the text doesn't reveal which. */
export class SubjectUnknownError extends CountersignError {
  constructor(what: string) {
    super('NOT_FOUND', `${what} not found`)
  }
}

export const requireFound = <Subject>(subject: Subject | null, what: string): Subject => {
  if (subject === null) throw new SubjectUnknownError(what)
  return subject
}

export class ConflictError extends CountersignError {
  constructor(detail: string) {
    super('CONFLICT', detail)
  }
}

export class TooManyAttemptsError extends CountersignError {
  constructor(retryAfterSeconds: number) {
    super('RATE_LIMITED', 'too many attempts; try again later', { retryAfterSeconds })
  }
}

export class SecondPersonNeededError extends fixedError(
  'FORBIDDEN_ROLE',
  'a second person must approve this change: request approval in the dashboard or with the admin API',
) {}
