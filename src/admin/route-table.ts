import type { Route } from './route.ts'
import { ACCOUNT_ROUTES } from './routes/account.ts'
import { approvalRoutes } from './routes/approvals.ts'
import { ATTESTER_COMMANDS, ATTESTER_ROUTES } from './routes/attesters.ts'
import { AUDIT_ROUTES } from './routes/audit.ts'
import { BINDING_ROUTES } from './routes/bindings.ts'
import { DECISION_LOG_ROUTES } from './routes/decision-log.ts'
import { DECISION_ROUTES } from './routes/decisions.ts'
import { DEPLOYMENT_ROUTES } from './routes/deployment.ts'
import { EVIDENCE_ROUTES } from './routes/evidence.ts'
import { FIND_ROUTES } from './routes/find.ts'
import { KEY_ROUTES } from './routes/keys.ts'
import { LIST_SOURCE_COMMANDS, LIST_SOURCE_ROUTES } from './routes/list-sources.ts'
import { LIST_ROUTES } from './routes/lists.ts'
import { MEMBER_OFFER_ROUTES } from './routes/member-offers.ts'
import { MEMBER_ROUTES } from './routes/members.ts'
import { NUMBER_ROUTES } from './routes/numbers.ts'
import { ORGANIZATION_ROUTES } from './routes/organizations.ts'
import { OVERVIEW_ROUTES } from './routes/overview.ts'
import { POLICY_COMMANDS, POLICY_ROUTES } from './routes/policies.ts'
import { POLICY_LANGUAGE_ROUTES } from './routes/policy-language.ts'
import { POLICY_TRIAL_ROUTES } from './routes/policy-trials.ts'
import { POOL_ROUTES } from './routes/pool.ts'
import { PORTAL_SETTING_ROUTES } from './routes/portal-settings.ts'
import { PROJECT_ROUTES } from './routes/projects.ts'
import { REFERENCE_ROUTES } from './routes/reference.ts'
import { REQUIRED_FACTOR_ROUTES } from './routes/required-factor.ts'
import { SECOND_FACTOR_ROUTES } from './routes/second-factors.ts'
import { SESSION_CHECK_ROUTES } from './routes/session-checks.ts'
import { SESSION_ROUTES } from './routes/sessions.ts'
import { SIGN_IN_ROUTES } from './routes/sign-in.ts'
import { TALLY_ROUTES } from './routes/tallies.ts'
import { TASK_ROUTES } from './routes/tasks.ts'
import { USER_ROUTES } from './routes/users.ts'
import { VERIFICATION_TRUST_ROUTES } from './routes/verification-trust.ts'
import { WEBHOOK_MESSAGE_ROUTES } from './routes/webhook-messages.ts'
import { WEBHOOK_ROUTES } from './routes/webhooks.ts'

/** Routes except approval decisions, which need this table. */
const ROUTES = [
  ...SIGN_IN_ROUTES,
  ...ACCOUNT_ROUTES,
  ...SECOND_FACTOR_ROUTES,
  ...ORGANIZATION_ROUTES,
  ...OVERVIEW_ROUTES,
  ...PORTAL_SETTING_ROUTES,
  ...VERIFICATION_TRUST_ROUTES,
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
  ...LIST_ROUTES,
  ...LIST_SOURCE_ROUTES,
  ...SESSION_ROUTES,
  ...EVIDENCE_ROUTES,
  ...SESSION_CHECK_ROUTES,
  ...WEBHOOK_ROUTES,
  ...WEBHOOK_MESSAGE_ROUTES,
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

/** Operations for commands: local files, long trials, and revisions without their policy. */
const COMMANDS = [...ATTESTER_COMMANDS, ...LIST_SOURCE_COMMANDS, ...POLICY_COMMANDS] as const

export type CoreRoute = (typeof ROUTES)[number] | ReturnType<typeof approvalRoutes>[number]
export type CoreCommand = (typeof COMMANDS)[number]

export const adminRoutes = (ofModules: readonly Route[]): readonly Route[] => {
  const routes = [...ROUTES, ...ofModules]
  return [...routes, ...approvalRoutes(routes)]
}

export const commandRoutes = (ofModules: {
  readonly routes: readonly Route[]
  readonly commands: readonly Route[]
}): readonly Route[] => [...adminRoutes(ofModules.routes), ...COMMANDS, ...ofModules.commands]
