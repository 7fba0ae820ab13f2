// The pages of modules in the dashboard, in the order in which other pages show their parts. The bundle contains them all;
// the dashboard shows those of the modules that run.
import type { ModulePages } from './dashboard/page/module-pages.ts'
import { documentPages } from './modules/documents/pages/pages.ts'
import { policyLabPages } from './modules/policy-lab/pages/pages.ts'
import { providerPages } from './modules/providers/pages/pages.ts'
import { screeningPages } from './modules/screening/pages/pages.ts'
import { sessionPolicyPages } from './modules/session-policies/pages/pages.ts'
import { transparencyPages } from './modules/transparency/pages/pages.ts'

export const MODULE_PAGES: readonly ModulePages[] = [
  sessionPolicyPages,
  screeningPages,
  documentPages,
  providerPages,
  transparencyPages,
  policyLabPages,
]
