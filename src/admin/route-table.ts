// Every route of the admin API, for the router, the checks of roles, the documentation and the tests.
import { ACCOUNT_ROUTES } from './routes/account.ts'
import { approvalRoutes } from './routes/approvals.ts'
import { ATTESTER_COMMANDS, ATTESTER_ROUTES } from './routes/attesters.ts'
import { AUDIT_ROUTES } from './routes/audit.ts'
import { BINDING_ROUTES } from './routes/bindings.ts'
import { DECISION_LOG_ROUTES } from './routes/decision-log.ts'
import { DECISION_ROUTES } from './routes/decisions.ts'
import { DEPLOYMENT_ROUTES } from './routes/deployment.ts'
import { DOCUMENT_CHECK_ROUTES } from './routes/document-checks.ts'
import { EVIDENCE_ROUTES } from './routes/evidence.ts'
import { FIND_ROUTES } from './routes/find.ts'
import { KEY_ROUTES } from './routes/keys.ts'
import { LIST_SOURCE_COMMANDS, LIST_SOURCE_ROUTES } from './routes/list-sources.ts'
import { LIST_ROUTES } from './routes/lists.ts'
import { MEMBER_OFFER_ROUTES } from './routes/member-offers.ts'
import { MEMBER_ROUTES } from './routes/members.ts'
import { MINIMUM_AGE_ROUTES } from './routes/minimum-age.ts'
import { NUMBER_ROUTES } from './routes/numbers.ts'
import { ORGANIZATION_ROUTES } from './routes/organizations.ts'
import { OVERVIEW_ROUTES } from './routes/overview.ts'
import { POLICY_COMMANDS, POLICY_ROUTES } from './routes/policies.ts'
import { POLICY_EFFECT_ROUTES } from './routes/policy-effects.ts'
import { POLICY_LANGUAGE_ROUTES } from './routes/policy-language.ts'
import { POLICY_TRIAL_ROUTES } from './routes/policy-trials.ts'
import { POOL_ROUTES } from './routes/pool.ts'
import { PORTAL_SETTING_ROUTES } from './routes/portal-settings.ts'
import { PROJECT_ROUTES } from './routes/projects.ts'
import { REFERENCE_ROUTES } from './routes/reference.ts'
import { REQUIRED_FACTOR_ROUTES } from './routes/required-factor.ts'
import { SCREENING_ROUTES } from './routes/screening.ts'
import { SCREENING_COMMANDS } from './routes/screening-import.ts'
import { SCREENING_SETTINGS_ROUTES } from './routes/screening-settings.ts'
import { SECOND_FACTOR_ROUTES } from './routes/second-factors.ts'
import { SESSION_POLICY_ROUTES } from './routes/session-policies.ts'
import { SESSION_POLICY_TRIAL_COMMANDS, SESSION_POLICY_TRIAL_ROUTES } from './routes/session-policy-trials.ts'
import { SESSION_ROUTES } from './routes/sessions.ts'
import { SIGN_IN_ROUTES } from './routes/sign-in.ts'
import { TALLY_ROUTES } from './routes/tallies.ts'
import { TASK_ROUTES } from './routes/tasks.ts'
import { THRESHOLD_TRIAL_ROUTES } from './routes/threshold-trial.ts'
import { USER_ROUTES } from './routes/users.ts'
import { VERIFICATION_TRUST_ROUTES } from './routes/verification-trust.ts'
import { WEBHOOK_ROUTES } from './routes/webhooks.ts'

/** All routes but those that decide approvals, which need this table. */
const ROUTES = [
  ...SIGN_IN_ROUTES,
  ...ACCOUNT_ROUTES,
  ...SECOND_FACTOR_ROUTES,
  ...ORGANIZATION_ROUTES,
  ...OVERVIEW_ROUTES,
  ...PORTAL_SETTING_ROUTES,
  ...VERIFICATION_TRUST_ROUTES,
  ...SESSION_POLICY_ROUTES,
  ...SESSION_POLICY_TRIAL_ROUTES,
  ...REQUIRED_FACTOR_ROUTES,
  ...MEMBER_ROUTES,
  ...USER_ROUTES,
  ...MEMBER_OFFER_ROUTES,
  ...KEY_ROUTES,
  ...PROJECT_ROUTES,
  ...BINDING_ROUTES,
  ...POLICY_ROUTES,
  ...POLICY_LANGUAGE_ROUTES,
  ...POLICY_TRIAL_ROUTES,
  ...POLICY_EFFECT_ROUTES,
  ...LIST_ROUTES,
  ...LIST_SOURCE_ROUTES,
  ...SESSION_ROUTES,
  ...SCREENING_ROUTES,
  ...SCREENING_SETTINGS_ROUTES,
  ...THRESHOLD_TRIAL_ROUTES,
  ...EVIDENCE_ROUTES,
  ...DOCUMENT_CHECK_ROUTES,
  ...MINIMUM_AGE_ROUTES,
  ...WEBHOOK_ROUTES,
  ...NUMBER_ROUTES,
  ...TALLY_ROUTES,
  ...DECISION_ROUTES,
  ...DECISION_LOG_ROUTES,
  ...TASK_ROUTES,
  ...AUDIT_ROUTES,
  ...FIND_ROUTES,
  ...DEPLOYMENT_ROUTES,
  ...POOL_ROUTES,
  ...ATTESTER_ROUTES,
  ...REFERENCE_ROUTES,
] as const

export const ADMIN_ROUTES = [...ROUTES, ...approvalRoutes(ROUTES)] as const

/**
 * All routes, and those of the command line alone: those that use files of the machine, which no request may name, a trial
 * that takes longer than a request, and a revision that is named without its policy.
 */
export const COMMAND_ROUTES = [
  ...ADMIN_ROUTES,
  ...ATTESTER_COMMANDS,
  ...LIST_SOURCE_COMMANDS,
  ...POLICY_COMMANDS,
  ...SCREENING_COMMANDS,
  ...SESSION_POLICY_TRIAL_COMMANDS,
] as const
