// All places, by area.
import type { Area, Place } from './place.ts'
import { access } from './places/access.ts'
import { client } from './places/client.ts'
import { decisions } from './places/decisions.ts'
import { documents } from './places/documents.ts'
import { facts } from './places/facts.ts'
import { http } from './places/http.ts'
import { identity } from './places/identity.ts'
import { policy } from './places/policy.ts'
import { pool } from './places/pool.ts'
import { portal } from './places/portal.ts'
import { processes } from './places/processes.ts'
import { signing } from './places/signing.ts'
import { store } from './places/store.ts'
import { upkeep } from './places/upkeep.ts'
import { webhooks } from './places/webhooks.ts'

export const PLACES: Readonly<Record<Area, readonly Place[]>> = {
  signing,
  decisions,
  access,
  identity,
  documents,
  policy,
  http,
  pool,
  store,
  facts,
  webhooks,
  portal,
  upkeep,
  processes,
  client,
}
