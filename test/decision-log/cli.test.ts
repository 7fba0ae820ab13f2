// `countersign decisions`: exit codes, output for people and for scripts.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SegmentWriter } from '../../src/decision-log/types.ts'
import { type Clock, systemClock } from '../../src/lib/time.ts'
import { createFolderTarget } from '../../src/object-store/ship-folder.ts'
import {
  attestation,
  denial,
  openTestSegment,
  range,
  readLines,
  removeTemporaryDirectories,
  temporaryDirectory,
  withheld,
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

describe('verify', () => {
  test('0 for a sound log, with the hash of the last line', async () => {
    const { code, out, err } = await run(['verify', '--chains'])
    expect([code, err]).toEqual([0, ''])
    const hash = new Bun.CryptoHasher('sha256').update(readLines(writer.path).at(-1) as string).digest('hex')
    expect(out).toContain(`w00 last line ${hash}\n`)
    expect(out).toEndWith('2 decisions, 1 withheld, 1 segments: ok\n')
  })

  test('1 without the tree’s module, unless only the chains are requested', async () => {
    const { code, err } = await run(['verify'])
    expect([code, err]).toEqual([1, expect.stringContaining('verify only the hash chains with --chains')])
  })

  test('0 with a warning for a torn tail', async () => {
    appendFileSync(writer.path, 'x')
    const { code, out } = await run(['verify', '--chains'])
    expect(code).toBe(0)
    expect(out).toContain('warning: "torn tail of 1 bytes')
  })

  test('1 for a changed log, naming file and line', async () => {
    writeFileSync(writer.path, readFileSync(writer.path, 'utf8').replace('Demo', 'Dema'))
    const { code, out } = await run(['verify', '--chains'])
    expect(code).toBe(1)
    expect(out).toContain('000001.ndjson 4 lines')
    expect(out).toContain('PROBLEM at line 3: "the hash of the previous line')
    expect(out).toEndWith('1 with problems\n')
  })

  test('the whole report with --json', async () => {
    const { out } = await run(['verify', '--chains', '--json'])
    expect(JSON.parse(out)).toMatchObject({
      ok: true,
      decisions: 2,
      segments: [{ slot: 'w00', lines: 4, problem: null }],
    })
    expect(out.trimEnd()).not.toContain('\n')
  })

  test('1 where there is no log', async () => {
    const { code, err } = await run(['verify', '--chains'], { dataDirectory: join(dataDirectory, 'none') })
    expect(code).toBe(1)
    expect(err).toContain('no decision log found in')
  })

  test('progress on stderr only once a second has passed', async () => {
    const after = async (stepMs: number) => {
      let nowMs = 0
      const monotonicMs = (): number => {
        nowMs += stepMs
        return nowMs
      }
      return (await run(['verify', '--chains'], {}, { ...systemClock, monotonicMs })).err
    }
    expect(await after(999)).toBe('')
    expect(await after(1_000)).toMatch(/^pass 1: 100% of \d+ bytes\n$/)
  })
})

describe('tail', () => {
  test('prints the newest, oldest first', async () => {
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
    writer.append(range(10, 30).map((number) => attestation(number)))
    const { out } = await run(['tail', '--json'])
    expect(out.trimEnd().split('\n')).toEqual(readLines(writer.path).slice(-10))
  })

  test('lets no text of a policy steer the terminal', async () => {
    writer.append([attestation(3, { policy_name: '\u001b[2J\u009b2J\u202e\u2028x\n' })])
    const { out } = await run(['tail', '-n', '1'])
    expect(out).toContain('"\\u001b[2J\\u{9b}2J\\u{202e}\\u{2028}x\\n"')
    expect(out).toMatch(/^[\x20-\x7e]*\n$/)
  })

  test('follows until it is stopped', async () => {
    const stop = new AbortController()
    let looks = 0
    const wait = (): Promise<void> => {
      looks++
      if (looks === 1) writer.append([attestation(4)])
      else stop.abort()
      return Promise.resolve()
    }
    const { code, out } = await run(['tail', '-n', '0', '--follow'], { wait, signal: stop.signal })
    expect(code).toBe(0)
    expect(out.split('\n')).toHaveLength(2)
    expect(out).toContain(attestation(4).uuid)
  })

  test('1 when a line can not be read', async () => {
    appendFileSync(writer.path, 'damaged\n')
    const { code, err } = await run(['tail'])
    expect(code).toBe(1)
    expect(err).toMatch(/1 lines could not be read, the latest at w\d\d\/\S+ at byte \d+: run/)
  })
})

describe('usage', () => {
  test('--help prints and succeeds', async () => {
    for (const args of [['--help'], ['verify', '-h'], ['tail', '--help']]) {
      const { code, out, err } = await run(args)
      expect([code, err]).toEqual([0, ''])
      expect(out).toStartWith('Usage: bun run countersign decisions')
    }
  })

  test('2 for what can not be understood', async () => {
    const wrong = [
      [],
      ['list'],
      ['verify', 'more'],
      ['tail', '-n', 'x'],
      ['tail', '-n', '-1'],
      ['verify', '--wat'],
      ['verify', '-f'],
      ['verify', '--chains', '--checkpoint', 'kept'],
    ]
    for (const args of wrong) {
      const { code, out, err } = await run(args)
      expect([args, code, out]).toEqual([args, 2, ''])
      expect(err).toContain('countersign decisions')
    }
  })

  test('a folder without segments is sound', async () => {
    const empty = temporaryDirectory()
    mkdirSync(join(empty, 'decisions'))
    expect((await run(['verify', '--chains'], { dataDirectory: empty })).code).toBe(0)
    expect(await run(['tail'], { dataDirectory: empty })).toEqual({ code: 0, out: '', err: '' })
  })
})

describe('ship', () => {
  const openTarget: NonNullable<TestIo['openTarget']> = (place) => {
    if (place?.kind !== 'folder') throw new Error('a folder was expected')
    return createFolderTarget(place.path)
  }

  test('--once copies what is there, and verify --from finds it sound', async () => {
    const folder = temporaryDirectory()
    const shipped = await run(['ship', '--to', `dir:${folder}`, '--once'], { openTarget })
    expect(shipped).toMatchObject({ code: 0, err: '' })
    expect(shipped.out).toMatch(/^[a-z0-9-]+: \d+ bytes shipped to dir:/)
    const again = await run(['ship', '--to', `dir:${folder}`, '--once', '--json'], { openTarget })
    expect(JSON.parse(again.out)).toMatchObject({ complete: true, bytes: 0, bytesUnshipped: 0, reason: null })
    const verified = await run(['verify', '--chains', '--from', `dir:${folder}`], { openTarget })
    expect(verified.code).toBe(0)
    expect(verified.out).toContain('2 decisions, 1 withheld, 1 segments: ok\n')
    expect(verified.out).toEndWith('1 nodes: ok\n')
    const report = await run(['verify', '--chains', '--from', `dir:${folder}`, '--json'], { openTarget })
    expect(JSON.parse(report.out)).toMatchObject({ ok: true, nodes: [{ decisions: 2, fromPieces: 1 }], repeated: [] })
  })

  test('verify --from names a uuid that two nodes recorded, and each place', async () => {
    const folder = temporaryDirectory()
    expect((await run(['ship', '--to', `dir:${folder}`, '--once'], { openTarget })).code).toBe(0)
    const other = temporaryDirectory()
    mkdirSync(join(other, 'decisions'))
    const segment = openTestSegment(join(other, 'decisions'))
    const repeated = denial(2)
    segment.append([attestation(1_000), repeated])
    segment.close()
    expect((await run(['ship', '--to', `dir:${folder}`, '--once'], { openTarget, dataDirectory: other })).code).toBe(0)
    const verified = await run(['verify', '--chains', '--from', `dir:${folder}`], { openTarget })
    expect(verified.code).toBe(1)
    const [line = ''] = verified.out.split('\n').filter((text) => text.includes('is recorded more than once'))
    expect(line).toStartWith(`${repeated.uuid} is recorded more than once: `)
    expect(line.match(/\/w\d+\/[^ ]+ line \d+/g)).toHaveLength(2)
    expect(verified.out).toEndWith('2 nodes: 1 with problems\n')
  })

  test('1 for a target that can not be written, and for a place where nothing is', async () => {
    const folder = temporaryDirectory()
    writeFileSync(join(folder, 'file'), '')
    const failed = await run(['ship', '--to', `dir:${folder}/file`, '--once'], { openTarget })
    expect(failed.code).toBe(1)
    expect(failed.err).toContain('could not ship everything')
    expect(await run(['verify', '--chains', '--from', `dir:${folder}`], { openTarget })).toMatchObject({
      code: 1,
      out: 'nothing has been shipped to this location\n',
    })
  })

  test('1 for a folder without a log, which gets none', async () => {
    const folder = temporaryDirectory()
    const missing = await run(['ship', '--to', `dir:${folder}/to`, '--once'], { openTarget, dataDirectory: folder })
    expect(missing).toMatchObject({ code: 1, err: `no decision log found in ${folder}/decisions\n` })
    expect(readdirSync(folder)).toEqual([])
  })

  test('2 for a place that is none, and options of another command', async () => {
    expect((await run(['ship', '--to', 'folder'])).code).toBe(2)
    expect((await run(['verify', '--once'])).code).toBe(2)
    expect((await run(['tail', '--from', 'dir:/x'])).code).toBe(2)
  })
})
