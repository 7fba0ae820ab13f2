// Fakes of the services that operations of modules use. A tree without modules has none.
import type { NearNames } from '../../../src/domain/screening-hit.ts'
import { type ProvidedService, provide } from '../../../src/lib/service-key.ts'
import { NEAR_NAMES } from '../../../src/modules/screening/checks/near-names.ts'
import { LOG_HEAD } from '../../../src/modules/transparency/service/log-head.ts'

/** @param near by organization id */
export const moduleServices = (near: ReadonlyMap<string, NearNames>): readonly ProvidedService[] => [
  provide(LOG_HEAD, async () => ({
    logKey: 'log key',
    size: 7,
    published: 'head',
    publishedSize: 5,
    required: 1,
    withinSeconds: 60,
    isLate: true,
    witnesses: [{ name: 'witness.example', atSeconds: null }],
  })),
  provide(NEAR_NAMES, async (organizationId) => near.get(organizationId) ?? null),
]
