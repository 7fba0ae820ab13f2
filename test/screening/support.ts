// Helpers for the screening tests: lists in memory, and session changes with real checks.
import { readFileSync } from 'node:fs'
import type { Zone } from '../../src/domain/document-zone.ts'
import type { SessionStatus, StatusChange } from '../../src/domain/session.ts'
import { createCheckRunner } from '../../src/identity/checks/check-runner.ts'
import type { ListedEntry, ScreenedSubject } from '../../src/modules/screening/matching/entry.ts'
import { buildScreening, openScreening } from '../../src/modules/screening/matching/screen-subject.ts'
import type { TestIdentity } from '../identity/support.ts'

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)
export const fileOf = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(`${import.meta.dir}/../data/screening/${name}`))

/** An entry of a list: a person without dates, countries and wallets. */
export const listed = (id: string, names: readonly string[], more: Partial<ListedEntry> = {}): ListedEntry => {
  return { id, kind: 'person', names, birthDates: [], countries: [], wallets: [], ...more }
}
export const screeningOf = (entries: readonly ListedEntry[]) =>
  openScreening(buildScreening([{ list: 'own', entries }]))
/** People numbered by their position. */
export const screeningOfNames = (names: readonly string[]) =>
  screeningOf(names.map((name, at) => listed(`${at}`, [name])))
export const screenerOf = (screening: ReturnType<typeof openScreening>) => ({
  screen: async (subjects: readonly ScreenedSubject[], threshold: number) =>
    subjects.map((subject) => screening.screen(subject, threshold)),
})

export const ZONE: Zone = {
  format: 'TD3',
  type: 'P',
  issuer: 'UTO',
  nationality: 'UTO',
  number: 'X1',
  surname: 'SCHMIDT',
  givenNames: 'ANNA',
  namesCut: false,
  birthDate: null,
  expiryDate: '2031-04-15',
  sex: null,
}

export const LEAD = { leads: () => true, holds: async () => true }
/** Time limit of `until` for real processes. */
export const SLOW = { limitMs: 55_000 }
export const fail = (error: unknown): never => {
  throw error
}

export const checkRunnerOf = (
  { store, storeChecks, clock }: TestIdentity,
  parts: Parameters<typeof createCheckRunner>[0]['parts'],
) =>
  createCheckRunner({
    store: store.sessionChecks,
    storeChecks,
    findSession: store.sessions.find,
    clock,
    parts,
    onError: fail,
  })

/** Changes the status of a session like its person or an operator, without making its checks. */
export const moveUnchecked = (
  { changes }: TestIdentity,
  target: { readonly organizationId: string; readonly sessionId: string },
  to: SessionStatus,
  change: Partial<StatusChange> = {},
) => {
  const actor = to === 'submitted' ? 'person' : 'operator:test'
  const override = to === 'completed' ? ({ override: 'person' } as const) : {}
  return changes.changeStatus({ ...target, to, actor, ...override, ...change })
}

export const clearHits = async ({ store }: TestIdentity, organizationId: string, sessionId: string): Promise<void> => {
  const decision = { state: 'cleared', by: 'operator:test', reason: 'A reason.' } as const
  for (const hit of await store.screeningChecks.hits(organizationId, sessionId)) {
    if (hit.state !== 'open') continue
    await store.screeningChecks.decideHit({ organizationId, sessionId, hitId: hit.id }, decision)
  }
}
