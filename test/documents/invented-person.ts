// Invented people and documents, determined by a random generator.
import type { ZoneFormat } from '../../src/domain/document-zone.ts'
import { LAYOUTS } from '../../src/zone-reader/zone/layout.ts'
import { STATES } from '../../src/zone-reader/zone/states.ts'
import type { ZoneContent } from './encode-zone.ts'

const SYLLABLES =
  'AN BEL CO DRA EL FI GUS HA IN JO KAR LU MO NA OR PE QUI RO SA TE UL VI WO XA YU ZE BRIGHT STOCK CHY SKA DJE LLO'.split(
    ' ',
  )

export const inventContent = (random: () => number): ZoneContent => {
  const below = (limit: number): number => Math.floor(random() * limit)
  const oneOf = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item
  const name = (): string => Array.from({ length: 1 + below(3) }, () => oneOf(SYLLABLES)).join('')
  const two = (number: number): string => String(number).padStart(2, '0')
  const format: ZoneFormat = oneOf(['TD3', 'TD3', 'TD1', 'TD2'])
  const state = oneOf([...STATES.keys()])
  const alphanumeric = (length: number): string =>
    Array.from({ length }, () => oneOf([...'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789012345678901234567890123456789'])).join(
      '',
    )
  const types = LAYOUTS.find((layout) => layout.format === format)?.types ?? 'P'
  return {
    format,
    type: random() < 0.7 ? oneOf([...types]) : oneOf([...types]) + oneOf([...'DNOPR']),
    issuer: state,
    nationality: random() < 0.8 ? state : oneOf([...STATES.keys()]),
    number: alphanumeric(7 + below(3)),
    surname: random() < 0.8 ? name() : `${name()} ${name()}`,
    givenNames: Array.from({ length: 1 + below(2) }, name).join(' '),
    birthDate: `${two(below(100))}${two(1 + below(12))}${two(1 + below(28))}`,
    expiryDate: `${two(22 + below(14))}${two(1 + below(12))}${two(1 + below(28))}`,
    sex: oneOf(['M', 'F', '<']),
    optional: random() < 0.5 ? '' : alphanumeric(5 + below(3)),
  }
}
