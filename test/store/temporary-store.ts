// A store in a temporary folder, with a clock that only the test advances.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../src/lib/time.ts'
import { openMigratedDatabase } from '../../src/store/open-database.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import type { StoreTarget } from '../../src/store/store-address.ts'
import { atEnd, hasEnd } from '../support/at-end.ts'

export interface ManualClock extends Clock {
  advance(seconds: number): void
  /** Changes the wall clock, and not the monotonic clock. */
  step(seconds: number): void
}

/** 2026-01-01T00:00:00Z. */
export const START_SECONDS = 1_767_225_600

export const createManualClock = (): ManualClock => {
  let elapsedMs = 0
  let steppedSeconds = 0
  return {
    monotonicMs: () => elapsedMs,
    unixSeconds: () => START_SECONDS + steppedSeconds + Math.floor(elapsedMs / 1000),
    advance: (seconds) => {
      elapsedMs += seconds * 1000
    },
    step: (seconds) => {
      steppedSeconds += seconds
    },
  }
}

export const temporaryFolder = (): { readonly path: string; remove(): void } => {
  const path = mkdtempSync(join(tmpdir(), 'countersign-store-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

export interface TemporaryStore {
  readonly store: Store
  readonly clock: ManualClock
  readonly target: StoreTarget
  /** Value of the setting `store`. */
  readonly address: string
  /** Path of the SQLite file; empty for PostgreSQL. */
  readonly path: string
  remove(): Promise<void>
}

/** With `TEST_STORE=postgres`, suites for SQLite run on PostgreSQL. */
const POSTGRES = process.env['TEST_STORE'] === 'postgres' ? await import('../support/postgres.ts') : null

type PostgresSupport = Pick<NonNullable<typeof POSTGRES>, 'createTemporaryDatabase' | 'PATIENT_LIMITS'>

/** @param postgres passed in, because its import starts a server */
export const openOverPostgres = async (postgres: PostgresSupport): Promise<TemporaryStore> => {
  const { target, address, remove } = await postgres.createTemporaryDatabase()
  const clock = createManualClock()
  const store = await openStore({ target, clock, ...postgres.PATIENT_LIMITS })
  return {
    store,
    clock,
    target,
    address,
    path: '',
    remove: async () => {
      await store.close()
      await remove()
    },
  }
}

let migrated: Promise<string> | undefined

/** Creates a file with empty tables, once per process. */
const createMigrated = async (): Promise<string> => {
  const folder = temporaryFolder()
  atEnd(async () => folder.remove())
  const path = join(folder.path, 'migrated.db')
  await (await openMigratedDatabase({ path, clock: createManualClock() })).close()
  return path
}

/**
 * Copies a migrated file to the path, because opening an empty one takes five times as long. A script that is not a
 * test would not remove the original, so the store creates its own tables there.
 */
export const placeMigrated = async (path: string): Promise<void> => {
  if (!hasEnd()) return
  migrated ??= createMigrated()
  copyFileSync(await migrated, path)
}

const openOverSqlite = async (options: Partial<Parameters<typeof openStore>[0]>): Promise<TemporaryStore> => {
  const folder = temporaryFolder()
  const clock = createManualClock()
  const path = join(folder.path, 'countersign.db')
  await placeMigrated(path)
  const store = await openStore({ path, clock, ...options })
  return {
    store,
    clock,
    target: { kind: 'sqlite', path },
    address: `sqlite:${path}`,
    path,
    remove: async () => {
      await store.close()
      folder.remove()
    },
  }
}

export const openTemporaryStore = (): Promise<TemporaryStore> =>
  POSTGRES === null ? openOverSqlite({}) : openOverPostgres(POSTGRES)

/** Opens the store like the service, with a thread for long reads. */
export const openWithLongReads = (): Promise<TemporaryStore> => openOverSqlite({ longReads: 'separate-thread' })

/** An organization with an active policy, a project and a binding. */
export const seedOrganization = (store: Store, slug: string) =>
  store.transaction(async (tables) => {
    const organization = await tables.organizations.create({ slug, name: slug })
    const organizationId = organization.id
    const policy = await tables.policies.create({ organizationId, name: `${slug} policy` })
    const revision = await tables.policies.saveRevision({
      organizationId,
      policyId: policy.id,
      source: `name: ${slug}`,
      quorum: 1,
    })
    if (revision === null) throw new Error('no revision')
    await tables.policies.activateRevision(organizationId, policy.id, revision.id)
    const project = await tables.projects.create({ organizationId, name: slug, policyId: policy.id })
    const binding = await tables.bindings.create({
      organizationId,
      projectId: project.id,
      chainName: 'ethereum',
      address: '0x00000000000000000000000000000000000000aa',
    })
    const key = await tables.apiKeys.issue({
      organizationId,
      kind: 'attestation',
      environment: 'live',
      name: 'first',
      expiresAtSeconds: null,
      rateLimit: null,
    })
    return { organization, organizationId, policy, revision, project, binding, key }
  })
