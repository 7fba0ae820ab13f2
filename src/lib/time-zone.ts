// Local times from a table of UTC offsets, because Temporal and Intl take microseconds per time.
// Source: the runtime's copy of the IANA Time Zone Database, https://www.iana.org/time-zones.
import { nearNames } from './edit-distance.ts'

/** First and last year, in UTC, of every table. */
export const ZONE_YEARS = { first: 2000, last: 2099 } as const
const START_MS = Date.UTC(ZONE_YEARS.first, 0, 1)
const END_MS = Date.UTC(ZONE_YEARS.last + 1, 0, 1)

const firstTimeIn = (name: string): Temporal.ZonedDateTime | null => {
  try {
    return Temporal.Instant.fromEpochMilliseconds(START_MS).toZonedDateTimeISO(name)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

const createTimeZone = (first: Temporal.ZonedDateTime) => {
  const transitionsMs: number[] = []
  const offsetsMs: number[] = []
  let time: Temporal.ZonedDateTime | null = first
  while (time !== null && time.epochMilliseconds < END_MS) {
    transitionsMs.push(time.epochMilliseconds)
    offsetsMs.push(time.offsetNanoseconds / 1e6)
    time = time.getTimeZoneTransition('next')
  }
  return {
    /** Returns a date whose UTC parts are the local time; null outside ZONE_YEARS. */
    localTime: (time: Date): Date | null => {
      const ms = time.getTime()
      if (!(ms >= START_MS && ms < END_MS)) return null
      let low = 0
      let high = transitionsMs.length
      while (high - low > 1) {
        const middle = (low + high) >>> 1
        if (transitionsMs[middle]! <= ms) low = middle
        else high = middle
      }
      return new Date(ms + offsetsMs[low]!)
    },
  }
}

export type TimeZone = ReturnType<typeof createTimeZone>

/** Shared by all policies of a thread. At most one entry per zone of the database. */
const zones = new Map<string, TimeZone>()

/** Returns null if the database has no zone of exactly this name. Offsets such as "+02:00" are not names. */
export const findTimeZone = (name: string): TimeZone | null => {
  const known = zones.get(name)
  if (known !== undefined) return known
  const first = /^[A-Z]/.test(name) ? firstTimeIn(name) : null
  if (first?.timeZoneId !== name) return null
  const zone = createTimeZone(first)
  zones.set(name, zone)
  return zone
}

export const timeZoneNames = (): readonly string[] => Intl.supportedValuesOf('timeZone')

/** Returns at most three zones whose name or city is similar. Abbreviations such as "PST" have no similar name. */
export const nearTimeZones = (name: string): readonly string[] => {
  const known = timeZoneNames().filter((zone) => zone.includes('/') || zone === 'UTC')
  const near = nearNames(name, known)
  if (near.length > 0) return near
  const cityOf = (zone: string): string => zone.slice(zone.lastIndexOf('/') + 1)
  const zonesOfCities = new Map(known.map((zone) => [cityOf(zone), zone]))
  return nearNames(cityOf(name), zonesOfCities.keys()).flatMap((city) => zonesOfCities.get(city) ?? [])
}
