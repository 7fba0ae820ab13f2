// Compares a zone with the entered fields and the date. A foreign document is common, so it only needs a review.

import type { Zone } from '../../domain/document-zone.ts'
import { dayOf } from '../../lib/time.ts'
import { STATES } from '../../zone-reader/zone/states.ts'
import { compareNames, type NameMatch } from './names.ts'

export interface Typed {
  readonly fullName?: string
  /** Date as YYYY-MM-DD. */
  readonly birthDate?: string
  /** Country of residence, ISO 3166-1 alpha-2. */
  readonly country?: string
}

export type Finding = 'passed' | 'look' | 'failed'

export interface Comparison {
  readonly name: 'name' | 'birth-date' | 'country' | 'expiry'
  readonly finding: Finding
}

const OF_NAME: Readonly<Record<NameMatch, Finding>> = {
  same: 'passed',
  similar: 'look',
  'not-comparable': 'look',
  other: 'failed',
}

export const compareZone = (zone: Zone, typed: Typed, nowSeconds: number): readonly Comparison[] => {
  const { fullName, birthDate, country } = typed
  const countries = [zone.nationality, zone.issuer].map((code) => STATES.get(code))
  return [
    ...(fullName === undefined ? [] : [{ name: 'name', finding: OF_NAME[compareNames(fullName, zone)] } as const]),
    ...(birthDate === undefined
      ? []
      : [
          {
            name: 'birth-date',
            // A zone may omit the month and day.
            finding: zone.birthDate === null ? 'look' : zone.birthDate === birthDate ? 'passed' : 'failed',
          } as const,
        ]),
    ...(country === undefined
      ? []
      : [{ name: 'country', finding: countries.includes(country) ? 'passed' : 'look' } as const]),
    // One extra day: valid through the last day in every time zone.
    { name: 'expiry', finding: `${zone.expiryDate}` >= dayOf(nowSeconds - 86_400) ? 'passed' : 'failed' },
  ]
}
