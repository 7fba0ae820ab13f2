// Types of the routes of all modules, for TypeScript clients. Only types: each running module imports its own routes.
import type { ROUTES as DOCUMENT_ROUTES } from './modules/documents/operations/operations.ts'
import type { ROUTES as POLICY_LAB_ROUTES } from './modules/policy-lab/operations/operations.ts'
import type { ROUTES as PROVIDER_ROUTES } from './modules/providers/operations/operations.ts'
import type {
  COMMANDS as SCREENING_COMMANDS,
  ROUTES as SCREENING_ROUTES,
} from './modules/screening/operations/operations.ts'
import type {
  COMMANDS as SESSION_POLICY_COMMANDS,
  ROUTES as SESSION_POLICY_ROUTES,
} from './modules/session-policies/operations/operations.ts'
import type { ROUTES as TRANSPARENCY_ROUTES } from './modules/transparency/operations/operations.ts'

export type ModuleRoute =
  | (typeof DOCUMENT_ROUTES)[number]
  | (typeof POLICY_LAB_ROUTES)[number]
  | (typeof PROVIDER_ROUTES)[number]
  | (typeof SCREENING_ROUTES)[number]
  | (typeof SESSION_POLICY_ROUTES)[number]
  | (typeof TRANSPARENCY_ROUTES)[number]

/** Operations that exist only for the command line. */
export type ModuleCommand = (typeof SCREENING_COMMANDS)[number] | (typeof SESSION_POLICY_COMMANDS)[number]
