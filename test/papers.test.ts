// The papers hold together: every link leads somewhere, every citation in the code names a part that exists, every test
// that the threat model names is there, generated tables are what the code makes, and the README stays short.
import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Glob } from 'bun'
import { TABLES, withTable } from '../docs/generate-tables.ts'

const ROOT = join(import.meta.dir, '..')
const README_BYTES_MAX = 20 * 1024
const README_LINES_MAX = 300

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const scan = (pattern: string): string[] =>
  [...new Glob(pattern).scanSync({ cwd: ROOT })].filter((path) => !path.includes('node_modules')).sort()

const pages = [
  ...scan('*.md'),
  ...scan('docs/**/*.md'),
  ...scan('deploy/**/*.md'),
  ...scan('clients/*/*.md'),
  'src/client/README.md',
  'docs/llms.txt',
  'contracts/README.md',
]

/** As GitHub makes anchors of headings. */
const anchorsOf = (text: string): Set<string> =>
  new Set(
    [...text.replaceAll(/```[\s\S]*?```/g, '').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )

describe('links', () => {
  for (const page of pages) {
    test(page, () => {
      const text = read(page)
      const broken: string[] = []
      for (const [, link = ''] of text.replaceAll(/```[\s\S]*?```/g, '').matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
        const [path = '', anchor] = link.split('#')
        const target = path === '' ? page : join(dirname(page), path)
        if (!existsSync(join(ROOT, target))) broken.push(link)
        else if (anchor !== undefined && target.endsWith('.md') && !anchorsOf(read(target)).has(anchor))
          broken.push(link)
      }
      expect(broken).toEqual([])
    })
  }
})

describe('citations', () => {
  const decisions = new Map(
    read('docs/decisions.md')
      .split(/^## §/m)
      .slice(1)
      .map((section) => [section[0] ?? '', section]),
  )
  const threats = new Set([...read('docs/threat-model.md').matchAll(/^(\d+)\. /gm)].map(([, number]) => number))
  const faults = read('docs/threat-model.md').split('## Faults')[1] ?? ''
  const invariants = new Set(
    [...(read('docs/architecture.md').split('## Invariants')[1] ?? '').matchAll(/^(\d+)\. /gm)].map(
      ([, number]) => number,
    ),
  )
  // A comment's line breaks are no part of what it cites.
  const sources = [
    ...scan('{src,workers,bench,contracts}/**/*.{ts,tsx,sol,css}'),
    ...scan('test/**/*.{ts,tsx}').filter((path) => path !== 'test/papers.test.ts'),
  ].map((path) => [path, read(path).replaceAll(/\n\s*(?:\/\/|\*) ?/g, ' ')] as const)

  const missing = (pattern: RegExp, isThere: (match: RegExpMatchArray) => boolean): string[] =>
    sources.flatMap(([path, text]) =>
      [...text.matchAll(pattern)].filter((match) => !isThere(match)).map(([all]) => `${path}: ${all}`),
    )

  test('are found', () => {
    expect(sources.filter(([, text]) => /decisions §\d/.test(text)).length).toBeGreaterThan(20)
    expect(invariants.size).toBeGreaterThanOrEqual(8)
    expect(threats.size).toBeGreaterThanOrEqual(36)
  })

  test('of decisions name a section, and the topics in it that they quote', () => {
    const lost = missing(/decisions(?:\.md)? §(\d)((?:,? "[^"]+")*)/g, ([, number = '', quoted = '']) => {
      const section = decisions.get(number)?.toLowerCase()
      return (
        section !== undefined &&
        [...quoted.matchAll(/"([^"]+)"/g)].every(([, topic = '']) => section.includes(topic.toLowerCase()))
      )
    })
    expect(lost).toEqual([])
  })

  test('of threats name a row', () => {
    const lost = missing(/threats,? rows? ([\d, and]+)/g, ([, numbers = '']) =>
      (numbers.match(/\d+/g) ?? []).every((number) => threats.has(number)),
    )
    expect(lost).toEqual([])
  })

  test('of faults name one of the table', () => {
    const lost = missing(/faults, ((?:"[^"]+"(?:, )?)+)/g, ([, quoted = '']) =>
      [...quoted.matchAll(/"([^"]+)"/g)].every(([, fault = '']) => faults.toLowerCase().includes(fault.toLowerCase())),
    )
    expect(lost).toEqual([])
  })

  test('of invariants name one of the architecture', () => {
    expect(missing(/invariants? (\d+)/g, ([, number]) => invariants.has(number ?? ''))).toEqual([])
  })

  test('of pages name a page', () => {
    expect(missing(/\b(docs\/[a-z-]+\.md)/g, ([, page = '']) => existsSync(join(ROOT, page)))).toEqual([])
  })
})

test('every test that the threat model names is there', () => {
  const named = [...read('docs/threat-model.md').matchAll(/`(test\/[^`]+)`/g)].map(([, path = '']) => path)
  expect(named.length).toBeGreaterThan(40)
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})

describe('generated tables', () => {
  for (const table of TABLES) {
    test(`docs/${table.page}, ${table.name}: bun docs/generate-tables.ts --write`, () => {
      const text = read(`docs/${table.page}`)
      expect(withTable(text, table)).toBe(text)
    })
  }
})

test('the README is short enough to be read', () => {
  const text = read('README.md')
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(README_BYTES_MAX)
  expect(text.split('\n').length).toBeLessThanOrEqual(README_LINES_MAX)
})
