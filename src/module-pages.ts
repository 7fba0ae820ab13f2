// Dashboard pages of all modules, in display order. The dashboard shows the pages of running modules.
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
