import type { ModuleOperations } from '../../../module-interface/operations.ts'
import { SESSION_POLICY_ROUTES } from './policy-of-sessions.ts'
import { SESSION_POLICY_TRIAL_COMMANDS, SESSION_POLICY_TRIAL_ROUTES } from './policy-trials.ts'

export const ROUTES = [...SESSION_POLICY_ROUTES, ...SESSION_POLICY_TRIAL_ROUTES] as const

export const COMMANDS = SESSION_POLICY_TRIAL_COMMANDS

export const operations: ModuleOperations = { routes: ROUTES, commands: COMMANDS }
