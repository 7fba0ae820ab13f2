// Events in the charts of the live page: process starts, and changes of workers and policies in the audit log.
import type { Store } from '../../store/store.ts'
import { closed, named, oneOf, type Static, Type } from '../schema.ts'
import type { ProcessesLook } from './processes.ts'

export const LIVE_EVENT = named(
  'LiveEvent',
  closed({
    at: Type.Number({ description: 'Unix milliseconds' }),
    kind: oneOf(['start', 'resize', 'policy']),
    text: Type.String({ description: 'Human-readable text' }),
  }),
)
export type LiveEvent = Static<typeof LIVE_EVENT>

const STARTS_KEPT = 100

/** Identifies processes by pid, which changes on restart. */
export const createSeenStarts = () => {
  const known = new Set<number>()
  let events: readonly LiveEvent[] = []
  return {
    look: ({ processes }: ProcessesLook) => {
      for (const { pid, index, startedAtMs } of processes) {
        if (pid === null || startedAtMs === null || known.has(pid)) continue
        known.add(pid)
        const text = processes.length === 1 && events.length === 0 ? 'The service started' : `Process ${index} started`
        events = [...events, { at: startedAtMs, kind: 'start' as const, text }].slice(-STARTS_KEPT)
      }
    },
    since: (sinceMs: number): readonly LiveEvent[] => events.filter(({ at }) => at >= sinceMs),
  }
}

const ACTIONS = ['policy.activate', 'pool.resize'] as const

const newOf = (change: unknown): string | null =>
  Array.isArray(change) && change.length === 2 ? String(change[1]) : null

const resizeText = (detail: Readonly<Record<string, unknown>>): string => {
  const parts = [
    ['processes', newOf(detail['processes'])],
    ['workers per process', newOf(detail['workers'])],
  ].flatMap(([what, count]) => (count === null ? [] : [`${count} ${what}`]))
  return `Resized to ${parts.join(', ')}`
}

const policyText = (detail: Readonly<Record<string, unknown>>, organization: string): string =>
  `${newOf(detail['name']) ?? 'A policy'} of ${organization}: revision ${String(detail['number'])} became live`

export const readChanges = async (
  { audit, organizations }: Pick<Store, 'audit' | 'organizations'>,
  sinceSeconds: number,
): Promise<readonly LiveEvent[]> => {
  const events: LiveEvent[] = []
  for (const { action, actorName, atSeconds, detail, organizationId } of await audit.newest(ACTIONS, sinceSeconds)) {
    const at = atSeconds * 1000
    if (action === 'pool.resize') {
      events.push({ at, kind: 'resize', text: `${resizeText(detail)}, by ${actorName}` })
      continue
    }
    const organization = organizationId === null ? null : await organizations.find(organizationId)
    events.push({ at, kind: 'policy', text: policyText(detail, organization?.name ?? 'an organization') })
  }
  return events
}
