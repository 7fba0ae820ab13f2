// `countersign decisions`: exit codes, and output as text and as JSON.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SegmentWriter } from '../../src/decision-log/types.ts'
import { type Clock, systemClock } from '../../src/lib/time.ts'
import { createFolderTarget } from '../../src/object-store/ship-folder.ts'
import {
  attestation,
  attestations,
  denial,
  openTestSegment,
  readLines,
  removeTemporaryDirectories,
  temporaryDirectory,
  withheld,
  writeSegment,
} from './fixtures.ts'
import { runDecisions, type TestIo } from './run-decisions.ts'

let dataDirectory = ''
let writer: SegmentWriter

beforeEach(() => {
  dataDirectory = temporaryDirectory()
  writer = openTestSegment(join(dataDirectory, 'decisions'))
  writer.append([attestation(1), denial(2, { code: 'DENIED' }), withheld(1)])
})
afterEach(removeTemporaryDirectories)

const run = (args: string[], changes: Partial<TestIo> = {}, clock?: Clock) =>
  runDecisions(args, { dataDirectory, ...changes }, clock)

const verify = (...more: string[]) => run(['verify', '--chains', ...more])

describe('verify', () => {
  test('returns 0 for a valid log, with the hash of the last line', async () => {
    const { code, out, err } = await verify()
    expect([code, err]).toEqual([0, ''])
    const hash = new Bun.CryptoHasher('sha256').update(readLines(writer.path).at(-1) as string).digest('hex')
    expect(out).toContain(`w00 last line ${hash}\n`)
    expect(out).toEndWith('2 decisions, 1 withheld, 1 segments: ok\n')
  })

  test('returns 1 without the tree module, unless only the chains are requested', async () => {
    const { code, err } = await run(['verify'])
    expect([code, err]).toEqual([1, expect.stringContaining('verify only the hash chains with --chains')])
  })

  test('returns 0 with a warning for a torn tail', async () => {
    appendFileSync(writer.path, 'x')
    const { code, out } = await verify()
    expect(code).toBe(0)
    expect(out).toContain('warning: "torn tail of 1 bytes')
  })

  test('returns 1 for a changed log, with the file and line', async () => {
    writeFileSync(writer.path, readFileSync(writer.path, 'utf8').replace('Demo', 'Dema'))
    const { code, out } = await verify()
    expect(code).toBe(1)
    expect(out).toContain('000001.ndjson 4 lines')
    expect(out).toContain('PROBLEM at line 3: "the hash of the previous line')
    expect(out).toEndWith('1 with problems\n')
  })

  test('prints the report on one line with --json', async () => {
    const { out } = await verify('--json')
    const segments = [{ slot: 'w00', lines: 4, problem: null }]
    expect(JSON.parse(out)).toMatchObject({ ok: true, decisions: 2, segments })
    expect(out.trimEnd()).not.toContain('\n')
  })

  test('returns 1 without a log', async () => {
    const { code, err } = await run(['verify', '--chains'], { dataDirectory: join(dataDirectory, 'none') })
    expect(code).toBe(1)
    expect(err).toContain('no decision log found in')
  })

  test('prints its progress to stderr after one second', async () => {
    const after = async (stepMs: number) => {
      let nowMs = 0
      const clock = { ...systemClock, monotonicMs: () => (nowMs += stepMs) }
      return (await run(['verify', '--chains'], {}, clock)).err
    }
    expect(await after(999)).toBe('')
    expect(await after(1_000)).toMatch(/^pass 1: 100% of \d+ bytes\n$/)
  })
})

describe('tail', () => {
  test('prints the newest records, oldest first', async () => {
    const { code, out } = await run(['tail', '-n', '2'])
    expect(code).toBe(0)
    const [first, second] = out.trimEnd().split('\n')
    expect(second).toBe(`2026-11-20T10:11:12.124Z w00 ${withheld(1).uuid} withheld after the deadline`)
    expect(first).toBe(
      `2026-11-20T10:11:12.125Z w00 ${denial(2).uuid} attestation denied "ethereum" ` +
        `"0x000000000000000000000000000000000000dead" -> "0x1111111111111111111111111111111111111111" ` +
        '"Demo policy" rule "deny-some" code "DENIED"',
    )
  })

  test('prints the lines of the log with --json', async () => {
    writer.append(attestations(10, 30))
    const { out } = await run(['tail', '--json'])
    expect(out.trimEnd().split('\n')).toEqual(readLines(writer.path).slice(-10))
  })

  test('escapes control characters in policy texts', async () => {
    writer.append([attestation(3, { policy_name: '\u001b[2J\u009b2J\u202e\u2028x\n' })])
    const { out } = await run(['tail', '-n', '1'])
    expect(out).toContain('"\\u001b[2J\\u{9b}2J\\u{202e}\\u{2028}x\\n"')
    expect(out).toMatch(/^[\x20-\x7e]*\n$/)
  })

  test('follows until it is stopped', async () => {
    const stop = new AbortController()
    let waits = 0
    const wait = (): Promise<void> => {
      waits++
      if (waits === 1) writer.append([attestation(4)])
      else stop.abort()
      return Promise.resolve()
    }
    const { code, out } = await run(['tail', '-n', '0', '--follow'], { wait, signal: stop.signal })
    expect(code).toBe(0)
    expect(out.split('\n')).toHaveLength(2)
    expect(out).toContain(attestation(4).uuid)
  })

  test('returns 1 if a line cannot be read', async () => {
    appendFileSync(writer.path, 'damaged\n')
    const { code, err } = await run(['tail'])
    expect(code).toBe(1)
    expect(err).toMatch(/1 lines could not be read, the latest at w\d\d\/\S+ at byte \d+: run/)
  })
})

describe('usage', () => {
  test('--help prints the usage and returns 0', async () => {
    for (const args of [['--help'], ['verify', '-h'], ['tail', '--help']]) {
      const { code, out, err } = await run(args)
      expect([code, err]).toEqual([0, ''])
      expect(out).toStartWith('Usage: bun run countersign decisions')
    }
  })

  test.each([
    '',
    'list',
    'verify more',
    'tail -n x',
    'tail -n -1',
    'verify --wat',
    'verify -f',
    'verify --chains --checkpoint kept',
    'ship --to folder',
    'verify --once',
    'tail --from dir:/x',
  ])('"%s" is invalid, and returns 2', async (words) => {
    const { code, out, err } = await run(words === '' ? [] : words.split(' '))
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain('countersign decisions')
  })

  test('a folder without segments is valid', async () => {
    const empty = temporaryDirectory()
    mkdirSync(join(empty, 'decisions'))
    expect((await run(['verify', '--chains'], { dataDirectory: empty })).code).toBe(0)
    expect(await run(['tail'], { dataDirectory: empty })).toEqual({ code: 0, out: '', err: '' })
  })
})

describe('ship', () => {
  let folder = ''
  beforeEach(() => {
    folder = temporaryDirectory()
  })
  const openTarget: NonNullable<TestIo['openTarget']> = (place) => {
    if (place?.kind !== 'folder') throw new Error('a folder was expected')
    return createFolderTarget(place.path)
  }
  const ship = (more: string[] = [], changes: Partial<TestIo> = {}, to = folder) =>
    run(['ship', '--to', `dir:${to}`, '--once', ...more], { openTarget, ...changes })
  const verifyCopies = (...more: string[]) =>
    run(['verify', '--chains', '--from', `dir:${folder}`, ...more], { openTarget })

  test('--once copies the log, and verify --from verifies the copy', async () => {
    const shipped = await ship()
    expect(shipped).toMatchObject({ code: 0, err: '' })
    expect(shipped.out).toMatch(/^[a-z0-9-]+: \d+ bytes shipped to dir:/)
    const again = await ship(['--json'])
    expect(JSON.parse(again.out)).toMatchObject({ complete: true, bytes: 0, bytesUnshipped: 0, reason: null })
    const verified = await verifyCopies()
    expect(verified.code).toBe(0)
    expect(verified.out).toContain('2 decisions, 1 withheld, 1 segments: ok\n')
    expect(verified.out).toEndWith('1 nodes: ok\n')
    const report = await verifyCopies('--json')
    expect(JSON.parse(report.out)).toMatchObject({ ok: true, nodes: [{ decisions: 2, fromPieces: 1 }], repeated: [] })
  })

  test('verify --from lists both positions of a uuid that two nodes recorded', async () => {
    expect((await ship()).code).toBe(0)
    const other = temporaryDirectory()
    const repeated = denial(2)
    writeSegment(join(other, 'decisions'), [attestation(1_000), repeated])
    expect((await ship([], { dataDirectory: other })).code).toBe(0)
    const verified = await verifyCopies()
    expect(verified.code).toBe(1)
    const [line = ''] = verified.out.split('\n').filter((text) => text.includes('is recorded more than once'))
    expect(line).toStartWith(`${repeated.uuid} is recorded more than once: `)
    expect(line.match(/\/w\d+\/[^ ]+ line \d+/g)).toHaveLength(2)
    expect(verified.out).toEndWith('2 nodes: 1 with problems\n')
  })

  test('returns 1 if the target cannot be written; verify returns 1 for an empty target', async () => {
    writeFileSync(join(folder, 'file'), '')
    const failed = await ship([], {}, `${folder}/file`)
    expect(failed.code).toBe(1)
    expect(failed.err).toContain('could not ship everything')
    expect(await verifyCopies()).toMatchObject({ code: 1, out: 'nothing has been shipped to this location\n' })
  })

  test('returns 1 without a log, and does not create a folder', async () => {
    const missing = await ship([], { dataDirectory: folder }, `${folder}/to`)
    expect(missing).toMatchObject({ code: 1, err: `no decision log found in ${folder}/decisions\n` })
    expect(readdirSync(folder)).toEqual([])
  })
})
