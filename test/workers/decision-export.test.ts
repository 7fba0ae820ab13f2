// Exported rows in CSV (RFC 4180) and NDJSON, without formulas that a spreadsheet would run.
import { expect, test } from 'bun:test'
import { exportPart, exportRows } from '../../workers/index/decision-export.ts'
import { decisionRecord } from '../admin/support/decisions.ts'

/** An independent CSV parser. */
const parse = (text: string): readonly (readonly string[])[] => {
  const rows: string[][] = [[]]
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === '\r\n') rows.push([])
  }
  return rows.slice(0, -1)
}

test('a value with line breaks, quotes and commas stays one cell, and a formula becomes text', () => {
  const requests = ['two\nlines', 'a\r\nb', 'a\rb', 'a "quote"', 'a, b', '=1+1', 'plain']
  const decisions = requests.map((request, n) => ({ record: decisionRecord(n, { request }), withheld: false }))
  const [header = [], ...rows] = parse(exportPart('csv', { decisions, missing: 0, next: null }, true).text)
  expect(rows.map(({ length }) => length)).toEqual(requests.map(() => header.length))
  const column = header.indexOf('request')
  expect(rows.map((row) => row[column])).toEqual(requests.map((text) => (text.startsWith('=') ? `'${text}` : text)))
  expect(exportRows('ndjson', decisions).trim().split('\n')).toHaveLength(requests.length)
})

test('a row states the number of missing decisions', () => {
  const found = { decisions: [{ record: decisionRecord(1), withheld: false }], missing: 2, next: null }
  const message = 'decisions missing here, because their lines are unavailable: 2'
  const [header = [], , row = []] = parse(exportPart('csv', found, true).text)
  expect(row.length).toBe(header.length)
  expect([row[header.indexOf('kind')], row[header.indexOf('message')]]).toEqual(['missing', message])
  expect(JSON.parse(exportPart('ndjson', found, false).text.split('\n')[1] ?? '')).toEqual({ kind: 'missing', message })
})
