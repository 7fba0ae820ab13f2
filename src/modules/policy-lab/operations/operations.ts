import type { ModuleOperations } from '../../../module-interface/operations.ts'
import { replayOf } from '../service/prepare-replay.ts'
import { POLICY_EFFECT_ROUTES } from './policy-effects.ts'
import { SIMULATION_ROUTES } from './simulation.ts'

export const ROUTES = [...SIMULATION_ROUTES, ...POLICY_EFFECT_ROUTES] as const

export const operations: ModuleOperations = { routes: ROUTES, tasks: (core) => [replayOf(core)] }
