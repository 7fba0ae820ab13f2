// The modules, in the order in which they start. In the core, only this file, module-pages.ts and module-routes.ts name
// modules.
import type { Module } from './module-interface/module.ts'
import { backups } from './modules/backups/module.ts'
import { documents } from './modules/documents/module.ts'
import { hardwareKeys } from './modules/hardware-keys/module.ts'
import { logShipping } from './modules/log-shipping/module.ts'
import { policyLab } from './modules/policy-lab/module.ts'
import { providers } from './modules/providers/module.ts'
import { screening } from './modules/screening/module.ts'
import { sessionPolicies } from './modules/session-policies/module.ts'
import { tracing } from './modules/tracing/module.ts'
import { transparency } from './modules/transparency/module.ts'

export const MODULES: readonly Module[] = [
  tracing,
  hardwareKeys,
  logShipping,
  transparency,
  backups,
  documents,
  providers,
  policyLab,
  screening,
  sessionPolicies,
]
