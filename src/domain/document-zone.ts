// What the machine-readable zone of an identity document says. Source: ICAO 9303-3 §4.

export type ZoneFormat = 'TD1' | 'TD2' | 'TD3'

export interface Zone {
  readonly format: ZoneFormat
  /** `P`, `ID` and so on, without fillers. */
  readonly type: string
  /** Three characters as the zone has them; see states.ts. */
  readonly issuer: string
  readonly nationality: string
  readonly number: string
  readonly surname: string
  /** Empty where the document has one name. */
  readonly givenNames: string
  /** The names fill their line to its end, so they may go on. */
  readonly namesCut: boolean
  /** `YYYY-MM-DD`; null where the zone leaves out the month or the day. */
  readonly birthDate: string | null
  readonly expiryDate: string
  readonly sex: 'M' | 'F' | null
}
