// Local times from the tables, compared with Intl.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { findTimeZone, nearTimeZones, timeZoneNames, ZONE_YEARS } from '../../src/lib/time-zone.ts'

const START = Date.UTC(ZONE_YEARS.first, 0, 1) / 1000
const END = Date.UTC(ZONE_YEARS.last + 1, 0, 1) / 1000

/** Unix seconds → `YYYY-MM-DD HH:MM:SS` in a zone. */
const intlTime = (timeZone: string) => {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  return (seconds: number): string => format.format(seconds * 1000)
}

const tableTime = (name: string, seconds: number): string | undefined =>
  findTimeZone(name)
    ?.localTime(new Date(seconds * 1000))
    ?.toISOString()
    .replace('T', ' ')
    .slice(0, 19)

/** First second of each new offset between two times, according to Intl. */
const transitionsOf = (name: string, start: number, end: number): readonly number[] => {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' })
  const offset = (seconds: number): string | undefined => format.format(seconds * 1000).split(', ')[1]
  const found: number[] = []
  const day = 86_400
  for (let from = start; from < end; from += day) {
    if (offset(from) === offset(from + day)) continue
    let [before, after] = [from, from + day]
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2)
      if (offset(middle) === offset(before)) before = middle
      else after = middle
    }
    found.push(after)
  }
  return found
}

describe('a local time', () => {
  test('agrees with Intl at any second in any zone', () => {
    const zone = fc.constantFrom(...timeZoneNames())
    const second = fc.integer({ min: START, max: END - 1 })
    fc.assert(
      fc.property(zone, second, (name, seconds) => expect(tableTime(name, seconds)).toBe(intlTime(name)(seconds))),
      { numRuns: 2_000 },
    )
  })

  // Ramadan interrupts daylight saving time in Morocco and Gaza, for one week in 2040. Lord Howe Island changes by 30
  // minutes, Troll by two hours, and Samoa crossed the date line at the end of 2011.
  test.each([
    ['Europe/Zurich', '2026-01-01', '2029-01-01', 6],
    ['America/New_York', '2026-01-01', '2029-01-01', 6],
    ['Africa/Casablanca', '2026-01-01', '2029-01-01', 6],
    ['Asia/Gaza', '2040-01-01', '2041-01-01', 4],
    ['Australia/Lord_Howe', '2026-01-01', '2029-01-01', 6],
    ['Antarctica/Troll', '2026-01-01', '2029-01-01', 6],
    ['Pacific/Apia', '2011-12-01', '2012-02-01', 1],
  ])('changes at the exact second of a transition: %s', (name, start, end, count) => {
    const transitions = transitionsOf(name, Date.parse(start) / 1000, Date.parse(end) / 1000)
    expect(transitions).toHaveLength(count)
    const expected = intlTime(name)
    for (const seconds of transitions.flatMap((at) => [at - 1, at, at + 1])) {
      expect(tableTime(name, seconds)).toBe(expected(seconds))
    }
  })

  test('is unknown outside the table', () => {
    for (const name of ['UTC', 'Europe/Zurich']) {
      expect([START, END - 1].map((seconds) => tableTime(name, seconds))).toEqual([START, END - 1].map(intlTime(name)))
      for (const ms of [START * 1000 - 1, END * 1000, Number.NaN]) {
        expect(findTimeZone(name)?.localTime(new Date(ms)) ?? null).toBeNull()
      }
    }
  })
})

describe('a zone', () => {
  test.each(['UTC', 'Europe/Zurich', 'US/Eastern', 'Asia/Calcutta', 'Etc/GMT+5', 'America/Argentina/Buenos_Aires'])(
    '%s is known',
    (name) => expect(findTimeZone(name)).not.toBeNull(),
  )

  test.each([
    ['europe/zurich', ['Europe/Zurich']],
    ['Europe/Zürich', ['Europe/Zurich']],
    ['Europe/zurich', ['Europe/Zurich']],
    ['Zurich', ['Europe/Zurich']],
    ['EU/Zurich', ['Europe/Zurich']],
    ['America/NewYork', ['America/New_York']],
    ['utc', ['UTC']],
    ['PST', []],
    ['+01:00', []],
    ['2026-01-01T00:00[Europe/Zurich]', ['Europe/Zurich']],
    ['', []],
  ])('%p is unknown; similar: %p', (name, near) => {
    expect(findTimeZone(name)).toBeNull()
    expect(nearTimeZones(name)).toEqual(near)
  })
})
