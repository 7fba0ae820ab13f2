// Consistency of docs/asvs.md: every requirement of levels 1 and 2, existing files, and correct counts.
import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '..')
const page = readFileSync(join(ROOT, 'docs', 'asvs.md'), 'utf8')

/** Number of requirements of levels 1 and 2 per section of ASVS 5.0. */
const PER_SECTION = new Map(
  `
  1.1:2 1.2:9 1.3:11 1.4:3 1.5:2 2.1:3 2.2:3 2.3:4 2.4:1 3.2:2 3.3:4 3.4:6 3.5:5 3.7:2 4.1:3 4.2:1 4.3:2 4.4:4 5.1:1
  5.2:3 5.3:2 5.4:3 6.1:3 6.2:12 6.3:4 6.4:4 6.5:5 6.6:3 6.8:4 7.1:3 7.2:4 7.3:2 7.4:5 7.5:2 7.6:2 8.1:2 8.2:3 8.3:1
  8.4:1 9.1:3 9.2:4 10.1:2 10.2:2 10.3:4 10.4:11 10.5:5 10.6:2 10.7:3 11.1:2 11.2:3 11.3:3 11.4:4 11.5:1 11.6:1
  12.1:3 12.2:2 12.3:4 13.1:1 13.2:5 13.3:2 13.4:5 14.1:2 14.2:4 14.3:3 15.1:3 15.2:3 15.3:7 16.1:1 16.2:5 16.3:4
  16.4:3 16.5:3 17.1:1 17.2:4 17.3:2
  `
    .trim()
    .split(/\s+/)
    .map((entry) => entry.split(':') as [string, string])
    .map(([section, count]) => [section, Number(count)]),
)

/** Requirements of level 1; all others are of level 2. */
const LEVEL_1 = new Set(
  `1.2.1 1.2.2 1.2.3 1.2.4 1.2.5 1.3.1 1.3.2 1.5.1 2.1.1 2.2.1 2.2.2 2.3.1 3.2.1 3.2.2 3.3.1 3.4.1 3.4.2 3.5.1 3.5.2
  3.5.3 4.1.1 4.4.1 5.2.1 5.2.2 5.3.1 5.3.2 6.1.1 6.2.1 6.2.2 6.2.3 6.2.4 6.2.5 6.2.6 6.2.7 6.2.8 6.3.1 6.3.2 6.4.1
  6.4.2 7.2.1 7.2.2 7.2.3 7.2.4 7.4.1 7.4.2 8.1.1 8.2.1 8.2.2 8.3.1 9.1.1 9.1.2 9.1.3 9.2.1 10.4.1 10.4.2 10.4.3
  10.4.4 10.4.5 11.3.1 11.3.2 11.4.1 12.1.1 12.2.1 12.2.2 13.4.1 14.2.1 14.3.1 15.1.1 15.2.1 15.3.1`.split(/\s+/),
)

interface Row {
  readonly id: string
  readonly level: '1' | '2'
  readonly state: string
  readonly text: string
}

const rowOf = (id: string, state: string, text: string): Row => {
  return { id, level: LEVEL_1.has(id) ? '1' : '2', state, text: text.trim() }
}

const ALL_IDS = [...PER_SECTION].flatMap(([section, count]) =>
  Array.from({ length: count }, (_, index) => `${section}.${index + 1}`),
)

/** Expands a range such as 4.4.1 to 4.4.4. */
const idsOf = (range: string): string[] => {
  const [from = '', to] = range.split(' to ')
  return to === undefined ? [from] : ALL_IDS.slice(ALL_IDS.indexOf(from), ALL_IDS.indexOf(to) + 1)
}

const rowsOf = (heading: string): Row[] => {
  const section = page.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  return [...section.matchAll(/^- (\d[\d., to]*): (.*)$/gm)].flatMap(([, ids = '', text = '']) =>
    ids.split(', ').flatMap((range) => idsOf(range).map((id) => rowOf(id, heading.toLowerCase(), text))),
  )
}

const rows: readonly Row[] = ['Partly', 'Pass', 'Not applicable'].flatMap(rowsOf)

const count = (levels: readonly string[], state: string): number =>
  rows.filter((row) => levels.includes(row.level) && row.state === state).length

describe('the ASVS assessment', () => {
  test('has each of the 253 requirements once', () => {
    expect(rows.length).toBe(253)
    expect(new Set(rows.map(({ id }) => id)).size).toBe(253)
    const found: Record<string, number> = {}
    for (const { id } of rows) {
      const section = id.slice(0, id.lastIndexOf('.'))
      found[section] = (found[section] ?? 0) + 1
    }
    expect(found).toEqual(Object.fromEntries(PER_SECTION))
  })

  test('names existing files, at least one per applicable requirement', () => {
    const missing: string[] = []
    for (const { id, state, text } of rows) {
      const named = [...text.matchAll(/`((?:test|src|workers|deploy)\/[^`]+)`/g)].map(([, path = '']) => path)
      if (state !== 'not applicable' && named.length === 0) missing.push(`${id} names none`)
      missing.push(...named.filter((path) => !existsSync(join(ROOT, path))).map((path) => `${id}: ${path}`))
    }
    expect(missing).toEqual([])
  })

  test('gives a reason for each requirement that is not met or not applicable', () => {
    const lengthOf = (text: string): number => text.replaceAll(/`[^`]+`[,.]? ?/g, '').trim().length
    const unexplained = rows.filter(({ state, text }) => state !== 'pass' && lengthOf(text) < 6)
    expect(unexplained.map(({ id }) => id)).toEqual([])
  })

  test.each([
    ['1', ['1']],
    ['2', ['2']],
    ['Both', ['1', '2']],
  ])('has correct counts for level %s', (name, levels) => {
    const [pass = 0, partly = 0, other = 0] = ['pass', 'partly', 'not applicable'].map((state) => count(levels, state))
    const share = `${((100 * pass) / (pass + partly)).toFixed(1)}%`
    const line = page.split('\n').find((text) => new RegExp(`^\\| +${name} \\|`).test(text)) ?? ''
    const counts = [pass, partly, other, pass + partly + other].map(String)
    expect(line.split('|').map((cell) => cell.trim())).toEqual(['', name, ...counts, share, ''])
  })
})
