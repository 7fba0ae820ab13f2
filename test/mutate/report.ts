// The kill rate by area, and whether the goal is met.
import { AREAS, type Area, GUARDED_AREAS, type Place } from './place.ts'
import type { Outcome, Result } from './trial.ts'

/** Of all places that were tried. */
const GOAL = 0.95

export interface Tried extends Outcome {
  readonly area: Area
  readonly place: Place
}

interface Line {
  readonly area: Area | 'all'
  readonly places: number
  readonly killed: number
  readonly survived: number
  /** The list or its tests are wrong there. */
  readonly errors: number
}

export interface Report {
  readonly areas: readonly Line[]
  readonly met: boolean
}

const isOneOf =
  (...results: readonly Result[]) =>
  ({ result }: Tried): boolean =>
    results.includes(result)

const lineOf = (area: Line['area'], tried: readonly Tried[]): Line => ({
  area,
  places: tried.length,
  killed: tried.filter(isOneOf('killed', 'timed out')).length,
  survived: tried.filter(isOneOf('survived')).length,
  errors: tried.filter(isOneOf('not applicable', 'broken')).length,
})

export const reportOf = (tried: readonly Tried[]): Report => {
  const areas = AREAS.map((area) =>
    lineOf(
      area,
      tried.filter((one) => one.area === area),
    ),
  ).filter(({ places }) => places > 0)
  const all = lineOf('all', tried)
  const guarded = areas.filter(({ area }) => area !== 'all' && GUARDED_AREAS.includes(area))
  const met =
    all.places > 0 &&
    all.errors === 0 &&
    all.killed / all.places >= GOAL &&
    guarded.every(({ survived }) => survived === 0)
  return { areas: [...areas, all], met }
}

export const tableOf = ({ areas, met }: Report): string => {
  const rows = areas.map(({ area, places, killed, survived, errors }) => [
    area,
    ...[places, killed, survived, errors].map(String),
    `${((100 * killed) / places).toFixed(1)}%`,
  ])
  const all = [['area', 'places', 'killed', 'survived', 'errors', 'rate'], ...rows]
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0))) ?? []
  const lines = all.map((row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))),
  )
  const goal = `${GOAL * 100}% killed, none surviving in ${GUARDED_AREAS.join(', ')}: ${met ? 'met' : 'missed'}`
  return `${lines.map((cells) => cells.join('  ')).join('\n')}\n\nGoal: ${goal}\n`
}
