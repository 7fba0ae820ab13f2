// Zones from certain and uncertain characters: ICAO's examples, invented zones compared with another implementation,
// and zones that must not be decoded.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parse } from 'mrz'
import { isCountryCode } from '../../src/identity/evidence/countries.ts'
import { type CellScores, decodeZone } from '../../src/zone-reader/zone/decode-zone.ts'
import { ALPHABET, checkDigitOf, LAYOUTS } from '../../src/zone-reader/zone/layout.ts'
import { STATES } from '../../src/zone-reader/zone/states.ts'
import { encodeZone } from './encode-zone.ts'
import { inventContent } from './invented-person.ts'
import { randomOf } from './specimen.ts'

const NOW = Date.UTC(2026, 10, 23) / 1000

/** Source: ICAO 9303-4, -5 and -6, appendix B: examples of a zone. */
const TD3 = ['P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<', 'L898902C36UTO7408122F1204159ZE184226B<<<<<10']
const TD1 = ['I<UTOD231458907<<<<<<<<<<<<<<<', '7408122F1204159UTO<<<<<<<<<<<6', 'ERIKSSON<<ANNA<MARIA<<<<<<<<<<']
const TD2 = ['I<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<', 'D231458907UTO7408122F1204159<<<<<<<6']

// Scores of a reader that is certain of every character, or less certain of some.
const UNLIKELY = -12
/** Lead of a character that excludes all others. */
const CERTAIN = 19

interface Doubt {
  readonly row: number
  readonly column: number
  /** Character that gets the highest score. */
  readonly character: string
  /** Lead over the true character, which has the second score, as a logarithm. */
  readonly lead: number
}

const scoresOf = (lines: readonly string[], doubts: readonly Doubt[] = []): CellScores =>
  lines.map((line, row) =>
    [...line].map((character, column) => {
      const scores = new Float32Array(ALPHABET.length).fill(UNLIKELY)
      scores[ALPHABET.indexOf(character)] = 0
      for (const doubt of doubts) {
        if (doubt.row === row && doubt.column === column) scores[ALPHABET.indexOf(doubt.character)] = doubt.lead
      }
      return scores
    }),
  )

const seeds = fc.integer({ min: 0, max: 2 ** 31 })
const inventedLines = (seed: number) => encodeZone(inventContent(randomOf(seed)))

describe('a zone', () => {
  test('of ICAO’s examples decodes to their fields', () => {
    const person = { surname: 'ERIKSSON', givenNames: 'ANNA MARIA', birthDate: '1974-08-12', expiryDate: '2012-04-15' }
    for (const [lines, format, number] of [
      [TD3, 'TD3', 'L898902C3'],
      [TD1, 'TD1', 'D23145890'],
      [TD2, 'TD2', 'D23145890'],
    ] as const) {
      const decoded = decodeZone(scoresOf(lines), NOW)
      expect(decoded?.zone).toMatchObject({ ...person, format, number, issuer: 'UTO', nationality: 'UTO', sex: 'F' })
      expect(decoded).toMatchObject({ lines, mended: 0 })
    }
  })

  test('decodes as in another implementation', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const lines = inventedLines(seed)
        const zone = decodeZone(scoresOf(lines), NOW)?.zone
        const { fields } = parse([...lines])
        expect(zone).toMatchObject({
          number: fields.documentNumber ?? '',
          surname: fields.lastName ?? '',
          givenNames: fields.firstName ?? '',
        })
        expect(zone?.birthDate?.slice(2).replaceAll('-', '')).toBe(fields.birthDate ?? '')
        expect(zone?.expiryDate.slice(2).replaceAll('-', '')).toBe(fields.expirationDate ?? '')
      }),
      { numRuns: 300 },
    )
  })

  test('is not decoded as TD2 from the start of a passport’s lines', () => {
    const start = ['P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<', 'L898902C36UTO7408122F3404159ZE184226']
    expect(checkDigitOf('L898902C3674081223404159ZE18422')).toBe('6')
    expect(decodeZone(scoresOf(start), NOW)).toBeNull()
  })

  test('can have a number that is longer than its field', () => {
    const long = 'D23145890734'
    const lines = [
      `I<UTO${long.slice(0, 9)}<${long.slice(9)}${checkDigitOf(long)}`.padEnd(30, '<'),
      '7408122F1204159UTO<<<<<<<<<<<',
      TD1[2] ?? '',
    ]
    const composite = `${lines[0]?.slice(5)}${lines[1]?.slice(0, 7)}${lines[1]?.slice(8, 15)}${lines[1]?.slice(18, 29)}`
    const whole = [lines[0] ?? '', `${lines[1]}${checkDigitOf(composite)}`, lines[2] ?? '']
    expect(decodeZone(scoresOf(whole), NOW)?.zone.number).toBe(long)
  })

  test('with an invalid date or disordered names is not decoded', () => {
    const with13 = encodeZone({ ...inventContent(randomOf(3)), format: 'TD3', birthDate: '741312' })
    expect(decodeZone(scoresOf(with13), NOW)).toBeNull()
    const disorder = [(TD3[0] ?? '').replace('MARIA<<<<<', 'MARIA<<<A<'), TD3[1] ?? '']
    expect(decodeZone(scoresOf(disorder), NOW)).toBeNull()
  })
})

describe('an uncertain character', () => {
  /** Similar characters, which have different values in a check digit. */
  const ALIKE = ['O0', 'I1', 'B8', 'S5', 'Z2', 'Q0', 'D0', 'T7'].flatMap((pair) => [pair, `${pair[1]}${pair[0]}`])

  test('under a check digit is corrected', () => {
    let mended = 0
    fc.assert(
      fc.property(seeds, fc.integer({ min: 0, max: 8 }), (seed, at) => {
        const content = { ...inventContent(randomOf(seed)), format: 'TD3' as const, type: 'P' }
        const lines = encodeZone(content)
        const pair = ALIKE.find(([is]) => is === lines[1]?.[at])
        if (pair === undefined) return
        mended++
        const doubts = [{ row: 1, column: at, character: pair[1] ?? '', lead: 1 }]
        expect(decodeZone(scoresOf(lines, doubts), NOW)).toMatchObject({ lines, mended: 1 })
      }),
      { numRuns: 300 },
    )
    expect(mended).toBeGreaterThan(50)
  })

  test('that check digits cannot distinguish prevents decoding', () => {
    const lines = encodeZone({ ...inventContent(randomOf(7)), format: 'TD3', type: 'P', number: 'G12345678' })
    expect(decodeZone(scoresOf(lines, [{ row: 1, column: 0, character: '6', lead: 1 }]), NOW)).toBeNull()
    expect(decodeZone(scoresOf(lines, [{ row: 1, column: 0, character: '6', lead: -1 }]), NOW)).toBeNull()
    expect(decodeZone(scoresOf(lines, [{ row: 1, column: 0, character: '5', lead: -1 }]), NOW)?.lines).toEqual(lines)
  })

  test('that is impossible at its position is ignored', () => {
    // The letter O in a date, and C and K for the fillers of a state, are frequent errors of text readers.
    const content = {
      ...inventContent(randomOf(5)),
      format: 'TD3',
      type: 'P',
      birthDate: '001001',
      issuer: 'D<<',
    } as const
    const lines = encodeZone(content)
    const doubts = [13, 14].map((column) => ({ row: 1, column, character: 'O', lead: 1.5 }))
    const fillers = [3, 4].map((column, at) => ({ row: 0, column, character: 'CK'[at] ?? '', lead: 1.5 }))
    expect(decodeZone(scoresOf(lines, doubts), NOW)).toMatchObject({ lines, mended: 0 })
    expect(decodeZone(scoresOf(lines, fillers), NOW)?.zone.issuer).toBe('D<<')
  })

  test('in a name prevents decoding', () => {
    expect(decodeZone(scoresOf(TD3, [{ row: 0, column: 5, character: 'F', lead: -0.5 }]), NOW)).toBeNull()
    expect(decodeZone(scoresOf(TD3, [{ row: 0, column: 5, character: 'F', lead: -5 }]), NOW)?.lines).toEqual(TD3)
  })

  test('that is certain but wrong never changes a number or a date', () => {
    fc.assert(
      fc.property(seeds, fc.nat(27), fc.integer({ min: 1, max: 9 }), (seed, column, by) => {
        const lines = encodeZone({ ...inventContent(randomOf(seed)), format: 'TD3', type: 'P' })
        const is = lines[1]?.[column] ?? ''
        if (!/\d/.test(is)) return
        const character = String((Number(is) + by) % 10)
        const decoded = decodeZone(scoresOf(lines, [{ row: 1, column, character, lead: CERTAIN }]), NOW)
        expect(decoded?.lines ?? lines).toEqual(lines)
      }),
      { numRuns: 500 },
    )
  })
})

test('random characters are not decoded', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...'ABCXYZ019<'), { minLength: 88, maxLength: 88 }), (characters) => {
      const text = characters.join('')
      expect(decodeZone(scoresOf([text.slice(0, 44), text.slice(44)]), NOW)).toBeNull()
    }),
  )
})

test('layouts cover their lines, and every state has a known country', () => {
  for (const { rows, columns, fields, checks } of LAYOUTS) {
    const taken = [...Object.values(fields), ...checks.map(({ digit }) => digit)]
    const cells = taken.flatMap(({ row, start, length }) => Array.from({ length }, (_, at) => `${row} ${start + at}`))
    expect(new Set(cells).size).toBe(cells.length)
    expect(cells.length).toBe(rows * columns)
  }
  for (const [code, country] of STATES) {
    expect(code).toHaveLength(3)
    if (country !== null) expect(isCountryCode(country)).toBe(true)
  }
  expect(new Set([...STATES.values()].filter((country) => country !== null)).size).toBe(249)
})
