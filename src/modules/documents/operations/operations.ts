import type { ModuleOperations } from '../../../module-interface/operations.ts'
import { DOCUMENT_ZONE_ROUTES } from './document-zone.ts'
import { MINIMUM_AGE_ROUTES } from './minimum-age.ts'

export const ROUTES = [...DOCUMENT_ZONE_ROUTES, ...MINIMUM_AGE_ROUTES] as const

export const operations: ModuleOperations = { routes: ROUTES }
