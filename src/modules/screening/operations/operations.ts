import { provide } from '../../../lib/service-key.ts'
import type { ModuleOperations } from '../../../module-interface/operations.ts'
import { createNearNames, NEAR_NAMES } from '../checks/near-names.ts'
import { SCREENING_COMMANDS } from './list-import.ts'
import { SCREENING_ROUTES } from './lists-and-hits.ts'
import { SCREENING_SETTINGS_ROUTES } from './settings.ts'
import { THRESHOLD_TRIAL_ROUTES } from './threshold-trial.ts'

export const ROUTES = [...SCREENING_ROUTES, ...SCREENING_SETTINGS_ROUTES, ...THRESHOLD_TRIAL_ROUTES] as const

export const COMMANDS = SCREENING_COMMANDS

export const operations: ModuleOperations = {
  routes: ROUTES,
  commands: COMMANDS,
  services: ({ store, evidence }) => [provide(NEAR_NAMES, createNearNames({ store, evidence }))],
}
