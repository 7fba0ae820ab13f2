import type { Exposition, Sample } from './exposition.ts'
import { METRICS } from './metric-table.ts'

export interface SharingMetrics {
  /** One entry per role of this process with leader tasks. */
  readonly leads: readonly { readonly role: string; readonly leads: boolean }[]
  readonly liveProcesses: number
  /** Rate limits cannot be coordinated with other processes, so each process enforces an equal share. */
  readonly limitsCut: boolean
}

export const addSharingMetrics = (exposition: Exposition, read: () => SharingMetrics | null): void => {
  const sample = (of: (sharing: SharingMetrics) => number) => (): readonly Sample[] => {
    const sharing = read()
    return sharing === null ? [] : [{ labels: {}, value: of(sharing) }]
  }
  exposition.add(METRICS.leads, () =>
    (read()?.leads ?? []).map(({ role, leads }) => ({ labels: { role }, value: leads ? 1 : 0 })),
  )
  exposition.add(
    METRICS.liveProcesses,
    sample(({ liveProcesses }) => liveProcesses),
  )
  exposition.add(
    METRICS.limitsCut,
    sample(({ limitsCut }) => (limitsCut ? 1 : 0)),
  )
}
