// Parts of timestamps in a time zone: `request.time.getHours("Europe/Zurich")`. The zone is a constant, so that its
// table of offsets belongs to the compiled policy. Source: https://github.com/google/cel-spec (langdef.md, Timezones).
import { findTimeZone, nearTimeZones, ZONE_YEARS } from '../../lib/time-zone.ts'
import type { Refuse } from '../resolve.ts'
import { ArithmeticRangeError } from '../values.ts'
import { constantText, replaceByFunction, type SyntaxNode } from './syntax.ts'

/** Method → part of a date whose UTC parts are the local time. */
export const TIME_PARTS: ReadonlyMap<string, (local: Date) => number> = new Map([
  ['getFullYear', (local) => local.getUTCFullYear()],
  ['getMonth', (local) => local.getUTCMonth()],
  ['getDate', (local) => local.getUTCDate()],
  ['getDayOfMonth', (local) => local.getUTCDate() - 1],
  ['getDayOfWeek', (local) => local.getUTCDay()],
  ['getHours', (local) => local.getUTCHours()],
  ['getMinutes', (local) => local.getUTCMinutes()],
  ['getSeconds', (local) => local.getUTCSeconds()],
  ['getMilliseconds', (local) => local.getUTCMilliseconds()],
])

/** Cost of one lookup, failed or not, in steps (see cost.ts). */
const LOCAL_TIME_STEPS = 30

const OUTSIDE_YEARS = new ArithmeticRangeError(
  `a time in a time zone must be in the years ${ZONE_YEARS.first} to ${ZONE_YEARS.last}`,
)

/** Replaces a call to a time method with a zone. Call after the names in its arguments are replaced. */
export const replaceZonedPart = (node: SyntaxNode, refuse: Refuse, suggests: boolean): void => {
  const [method, time, [zoneNode, ...others]] = node.args as [string, SyntaxNode, SyntaxNode[]]
  const read = TIME_PARTS.get(method)
  const name = constantText(zoneNode)
  if (zoneNode === undefined || read === undefined || name === null || others.length > 0) {
    refuse(zoneNode ?? node, `${method}() takes a time zone as a string literal: ${method}("Europe/Zurich")`)
    return
  }
  const zone = findTimeZone(name)
  if (zone === null) {
    const near = suggests ? nearTimeZones(name) : []
    const remedy = near.length === 0 ? 'use an IANA name such as Europe/Zurich' : `did you mean ${near.join(' or ')}?`
    refuse(zoneNode, `unknown time zone "${name.slice(0, 64)}": ${remedy}`)
    return
  }
  const bounds = { steps: LOCAL_TIME_STEPS, elements: 0, chars: 0 }
  replaceByFunction(node, time, 'google.protobuf.Timestamp', 'int', bounds, (value) => {
    const local = zone.localTime(value as Date)
    if (local === null) throw OUTSIDE_YEARS
    return BigInt(read(local))
  })
}
