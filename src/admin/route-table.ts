// Every route of the admin API. The router, the checks of roles, the documentation and the tests read this table and
// nothing else.
import type { Route } from './route.ts'
import { ACCOUNT_ROUTES } from './routes/account.ts'
import { ATTESTER_ROUTES } from './routes/attesters.ts'
import { AUDIT_ROUTES } from './routes/audit.ts'
import { DECISION_LOG_ROUTES } from './routes/decision-log.ts'
import { DECISION_ROUTES } from './routes/decisions.ts'
import { DEPLOYMENT_ROUTES } from './routes/deployment.ts'
import { EVIDENCE_ROUTES } from './routes/evidence.ts'
import { JOB_ROUTES } from './routes/jobs.ts'
import { KEY_ROUTES } from './routes/keys.ts'
import { LIST_SOURCE_ROUTES } from './routes/list-sources.ts'
import { LIST_ROUTES } from './routes/lists.ts'
import { MEMBER_ROUTES } from './routes/members.ts'
import { ORGANIZATION_ROUTES } from './routes/organizations.ts'
import { POLICY_ROUTES } from './routes/policies.ts'
import { POLICY_EFFECT_ROUTES } from './routes/policy-effects.ts'
import { POLICY_LANGUAGE_ROUTES } from './routes/policy-language.ts'
import { POLICY_TRIAL_ROUTES } from './routes/policy-trials.ts'
import { POOL_ROUTES } from './routes/pool.ts'
import { PORTAL_SETTING_ROUTES } from './routes/portal-settings.ts'
import { PROJECT_ROUTES } from './routes/projects.ts'
import { REFERENCE_ROUTES } from './routes/reference.ts'
import { SECOND_FACTOR_ROUTES } from './routes/second-factors.ts'
import { SESSION_ROUTES } from './routes/sessions.ts'
import { SIGN_IN_ROUTES } from './routes/sign-in.ts'
import { WEBHOOK_ROUTES } from './routes/webhooks.ts'

export const ADMIN_ROUTES: readonly Route[] = [
  ...SIGN_IN_ROUTES,
  ...ACCOUNT_ROUTES,
  ...SECOND_FACTOR_ROUTES,
  ...ORGANIZATION_ROUTES,
  ...PORTAL_SETTING_ROUTES,
  ...MEMBER_ROUTES,
  ...KEY_ROUTES,
  ...PROJECT_ROUTES,
  ...POLICY_ROUTES,
  ...POLICY_LANGUAGE_ROUTES,
  ...POLICY_TRIAL_ROUTES,
  ...POLICY_EFFECT_ROUTES,
  ...LIST_ROUTES,
  ...LIST_SOURCE_ROUTES,
  ...SESSION_ROUTES,
  ...EVIDENCE_ROUTES,
  ...WEBHOOK_ROUTES,
  ...DECISION_ROUTES,
  ...DECISION_LOG_ROUTES,
  ...JOB_ROUTES,
  ...AUDIT_ROUTES,
  ...DEPLOYMENT_ROUTES,
  ...POOL_ROUTES,
  ...ATTESTER_ROUTES,
  ...REFERENCE_ROUTES,
]
