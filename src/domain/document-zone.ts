// Content of the machine-readable zone of an identity document. Source: ICAO 9303-3 §4.

export type ZoneFormat = 'TD1' | 'TD2' | 'TD3'

export interface Zone {
  readonly format: ZoneFormat
  /** Document type without fillers, such as `P` or `ID`. */
  readonly type: string
  /** Three characters, as in the zone (states.ts). */
  readonly issuer: string
  readonly nationality: string
  readonly number: string
  readonly surname: string
  /** Empty if the document has only one name. */
  readonly givenNames: string
  /** The names fill their line, so they may be cut off. */
  readonly namesCut: boolean
  /** `YYYY-MM-DD`; null if the zone omits the month or the day. */
  readonly birthDate: string | null
  readonly expiryDate: string
  readonly sex: 'M' | 'F' | null
}
