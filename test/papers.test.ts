// Consistency of the documentation: links, citations in the code, tests of the threat model, generated tables, and the
// length of the README.
import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Glob } from 'bun'
import { TABLES, withTable } from '../docs/generate-tables.ts'

const ROOT = join(import.meta.dir, '..')

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

/** Returns the anchors that GitHub creates for headings. */
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
  const listed = read('docs/architecture.md').split('## Invariants')[1] ?? ''
  const invariants = new Set([...listed.matchAll(/^(\d+)\. /gm)].map(([, number]) => number))
  // Line breaks of comments are removed.
  const sources = [
    ...scan('{src,workers,bench,contracts}/**/*.{ts,tsx,sol,css}'),
    ...scan('test/**/*.{ts,tsx}').filter((path) => path !== 'test/papers.test.ts'),
  ].map((path) => [path, read(path).replaceAll(/\n\s*(?:\/\/|\*) ?/g, ' ')] as const)

  const missing = (pattern: RegExp, isThere: (match: RegExpMatchArray) => boolean): string[] =>
    sources.flatMap(([path, text]) =>
      [...text.matchAll(pattern)].filter((match) => !isThere(match)).map(([all]) => `${path}: ${all}`),
    )

  test('are recognized', () => {
    expect(sources.filter(([, text]) => /decisions §\d/.test(text)).length).toBeGreaterThan(20)
    expect(invariants.size).toBeGreaterThanOrEqual(8)
    expect(threats.size).toBeGreaterThanOrEqual(36)
  })

  test('of decisions name a section and quote its topics', () => {
    const unknown = missing(/decisions(?:\.md)? §(\d)((?:,? "[^"]+")*)/g, ([, number = '', quoted = '']) => {
      const section = decisions.get(number)?.toLowerCase()
      return (
        section !== undefined &&
        [...quoted.matchAll(/"([^"]+)"/g)].every(([, topic = '']) => section.includes(topic.toLowerCase()))
      )
    })
    expect(unknown).toEqual([])
  })

  test('of threats name an existing row', () => {
    const unknown = missing(/threats,? rows? ([\d, and]+)/g, ([, numbers = '']) =>
      (numbers.match(/\d+/g) ?? []).every((number) => threats.has(number)),
    )
    expect(unknown).toEqual([])
  })

  test('of faults name an existing fault', () => {
    const unknown = missing(/faults, ((?:"[^"]+"(?:, )?)+)/g, ([, quoted = '']) =>
      [...quoted.matchAll(/"([^"]+)"/g)].every(([, fault = '']) => faults.toLowerCase().includes(fault.toLowerCase())),
    )
    expect(unknown).toEqual([])
  })

  test('of invariants name an existing invariant', () => {
    expect(missing(/invariants? (\d+)/g, ([, number]) => invariants.has(number ?? ''))).toEqual([])
  })

  test('of pages name an existing page', () => {
    expect(missing(/\b(docs\/[a-z-]+\.md)/g, ([, page = '']) => existsSync(join(ROOT, page)))).toEqual([])
  })
})

test('every test of the threat model exists', () => {
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

test('the README is short', () => {
  const text = read('README.md')
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(20 * 1024)
  expect(text.split('\n').length).toBeLessThanOrEqual(300)
})
