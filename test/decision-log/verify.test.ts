// Verification, which detects every change that a hash chain covers, and distinguishes changes from the result of a crash.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { DecisionDirectoryMissingError } from '../../src/decision-log/errors.ts'
import { encodeRecord, hashLine } from '../../src/decision-log/record.ts'
import { type VerifyProgress, type VerifyReport, verifyDecisions } from '../../src/decision-log/verify.ts'
import {
  attestation,
  attestations,
  denial,
  manualClock,
  openTestSegment,
  range,
  readLines,
  removeTemporaryDirectories,
  START_MS,
  segmentNames,
  temporaryDirectory,
  withheld,
  writeSegment,
} from './fixtures.ts'

let directory = ''
const path = (name: string, slot = 'w00'): string => join(directory, slot, name)
const names = (slot = 'w00'): string[] => segmentNames(directory, slot)
const problems = (report: VerifyReport) =>
  report.segments
    .filter((segment) => segment.problem !== null)
    .map((segment) => [segment.slot, segment.name, segment.problem?.line, segment.problem?.detail])

/** Two slots with three segments and twelve records each. */
const writeLog = (): void => {
  for (const [index, slot] of ['w00', 'w01'].entries()) {
    const writer = openTestSegment(directory, { slot, maxBytes: 2_900, clock: manualClock() })
    for (const number of range(0, 6)) {
      const first = index * 100 + number * 2
      writer.append([attestation(first), number % 2 === 0 ? denial(first + 1, { code: 'A' }) : withheld(first)])
    }
    writer.close()
  }
}

beforeEach(() => {
  directory = temporaryDirectory()
  writeLog()
})
afterEach(removeTemporaryDirectories)

const detailOf = async (): Promise<string | undefined> => problems(await verifyDecisions(directory))[0]?.[3] as string

describe('a valid log', () => {
  test('yields a report with every segment', async () => {
    const report = await verifyDecisions(directory)
    expect(report).toMatchObject({ ok: true, decisions: 18, withheld: 6, passes: 1 })
    expect(names().length).toBe(3)
    expect(report.segments.map(({ slot, name }) => [slot, name])).toEqual(
      ['w00', 'w01'].flatMap((slot) => names(slot).map((name) => [slot, name])),
    )
    const first = path(names()[0] as string)
    expect(report.segments[0]).toMatchObject({
      firstAt: START_MS,
      problem: null,
      warnings: [],
      bytes: statSync(first).size,
      lines: readLines(first).length,
    })
  })

  test('can be empty, but not missing', async () => {
    expect(await verifyDecisions(temporaryDirectory())).toMatchObject({ ok: true, segments: [] })
    await expect(verifyDecisions(join(directory, 'none'))).rejects.toThrow(DecisionDirectoryMissingError)
  })

  test('reports its progress to the last byte', async () => {
    const seen: VerifyProgress[] = []
    const { bytes } = await verifyDecisions(directory, { onProgress: (progress) => void seen.push(progress) })
    expect(seen.at(-1)).toEqual({ pass: 1, bytesRead: bytes, bytesTotal: bytes })
  })

  test('can have a torn tail in its newest segment', async () => {
    const writer = openTestSegment(directory, { slot: 'w02' })
    writer.append([attestation(500)])
    appendFileSync(writer.path, '{"prev":"')
    const report = await verifyDecisions(directory)
    expect(report.ok).toBe(true)
    expect(report.segments.at(-1)?.warnings[0]).toContain('torn tail of 9 bytes')
  })

  test('can lack its oldest segments', async () => {
    rmSync(path(names()[0] as string))
    const report = await verifyDecisions(directory)
    expect(report.ok).toBe(true)
    expect(report.segments[0]?.warnings[0]).toContain('are not present')
  })
})

describe('verification detects', () => {
  const place = fc.record({
    slot: fc.constantFrom('w00', 'w01'),
    segment: fc.nat({ max: 2 }),
    line: fc.nat(),
    byte: fc.nat(),
  })
  type Change = (all: string[], index: number, byte: number, other: number) => string[]

  test.each<[string, number, Change]>([
    [
      'a changed byte',
      200,
      (all, index, byte, other) => {
        const line = all[index] as string
        const at = byte % line.length
        const changed = String.fromCharCode(line.charCodeAt(at) ^ (1 + (other % 255)))
        return all.with(index, line.slice(0, at) + changed + line.slice(at + 1))
      },
    ],
    ['a removed line', 60, (all, index) => all.toSpliced(index, 1)],
    [
      'swapped lines',
      60,
      (all, index, _byte, other) => {
        const others = range(0, all.length).filter((each) => each !== index)
        const second = others[other % others.length] as number
        return all.with(index, all[second] as string).with(second, all[index] as string)
      },
    ],
    [
      'an inserted or repeated line',
      60,
      (all, index, _byte, other) => all.toSpliced(index, 0, ['', '{}', all[index] as string][other % 3] as string),
    ],
  ])('%s, in any covered line', async (_name, numRuns, change) => {
    await fc.assert(
      fc.asyncProperty(place, fc.nat(), async ({ slot, segment, line, byte }, other) => {
        const file = path(names(slot)[segment] as string, slot)
        const original = readFileSync(file)
        const all = readLines(file)
        // The chain does not cover the last line of the newest segment.
        const covered = segment === 2 ? all.length - 1 : all.length
        const changed = change(all, line % covered, byte, other)
        writeFileSync(file, changed.map((text) => `${text}\n`).join(''), 'latin1')
        const report = await verifyDecisions(directory)
        writeFileSync(file, original)
        expect(report.ok).toBe(false)
        expect(problems(report).every(([name]) => name === slot)).toBe(true)
      }),
      { numRuns },
    )
  })

  test('the line whose hash does not match', async () => {
    const name = names()[0] as string
    const all = readLines(path(name))
    const write = (line: string): void => writeFileSync(path(name), all.with(2, line).join('\n').concat('\n'))
    write((all[2] as string).replace('"compliant":false', '"compliant":true '))
    expect(problems(await verifyDecisions(directory))[0]).toEqual(['w00', name, 3, expect.any(String)])
    write((all[2] as string).replace('Demo policy', 'Dema policy'))
    expect(problems(await verifyDecisions(directory))).toEqual([
      ['w00', name, 4, 'the hash of the previous line does not match'],
    ])
  })

  test('a changed last line of a segment that has a successor', async () => {
    const [first, second] = names() as [string, string]
    const all = readLines(path(first))
    const last = all.at(-1) as string
    const changed = last.replace(/"at":(\d+)/, (_, at: string) => `"at":${Number(at) + 1}`)
    expect(changed).not.toBe(last)
    writeFileSync(path(first), `${all.with(-1, changed).join('\n')}\n`)
    expect(problems(await verifyDecisions(directory))).toEqual([
      ['w00', second, 1, `the last line of ${first} was changed or removed`],
    ])
  })

  test('bytes that are not UTF-8', async () => {
    const name = names()[0] as string
    const bytes = readFileSync(path(name))
    bytes[bytes.indexOf('Demo policy')] = 0xff
    writeFileSync(path(name), bytes)
    expect(await detailOf()).toBe('the line is not UTF-8')
  })

  test('a byte order mark before the last line', async () => {
    const name = names()[2] as string
    const all = readLines(path(name))
    writeFileSync(path(name), `${all.with(-1, `\ufeff${all.at(-1)}`).join('\n')}\n`)
    expect(await detailOf()).toBe('the line is not valid JSON')
  })

  test('a line that is too long', async () => {
    const name = names()[0] as string
    writeFileSync(path(name), Buffer.concat([readFileSync(path(name)), Buffer.alloc(3_000_000, 'x')]))
    const older = problems(await verifyDecisions(directory))
    expect(older).toEqual([['w00', name, 6, 'bytes were added or removed after the last line']])
    const newest = names()[2] as string
    appendFileSync(path(newest), `${'x'.repeat(3_000_000)}\n`)
    expect(problems(await verifyDecisions(directory)).at(-1)?.[3]).toBe('a line exceeds the maximum length')
  })
})

describe('verification detects a segment', () => {
  test('with a tail that its successor does not record', async () => {
    const [first] = names() as [string]
    appendFileSync(path(first), 'x')
    expect(await detailOf()).toBe('bytes were added or removed after the last line')
    truncateSync(path(first), statSync(path(first)).size - 5)
    expect(await detailOf()).toContain('lines were removed')
  })

  test('with a correctly chained line that its successor does not record', async () => {
    const [first] = names() as [string]
    const prev = hashLine(readLines(path(first)).at(-1) as string)
    appendFileSync(path(first), `${encodeRecord(withheld(0), prev)}\n`)
    expect((await verifyDecisions(directory)).ok).toBe(false)
  })

  test('that was removed, emptied, swapped, renamed or copied', async () => {
    const [first, second, third] = names() as [string, string, string]
    const spare = join(directory, 'spare')
    const check = async (detail: string): Promise<void> => {
      expect(JSON.stringify(problems(await verifyDecisions(directory)))).toContain(detail)
    }
    renameSync(path(second), spare)
    await check(`the previous segment, ${second}, is missing`)
    writeFileSync(path(second), '')
    await check(`the previous segment, ${second}, was emptied`)
    copyFileSync(path(third), path(second))
    await check('the number in the header differs from the file name')
    rmSync(path(second))
    copyFileSync(spare, path(second))
    expect((await verifyDecisions(directory)).ok).toBe(true)
    copyFileSync(path(second), path(third.replace('000003', '000004')))
    await check('the number in the header differs from the file name')
    rmSync(path(third.replace('000003', '000004')))
    truncateSync(path(first), 0)
    await check(`the previous segment, ${first}, was emptied`)
  })

  test('of another slot', async () => {
    const name = names()[0] as string
    mkdirSync(join(directory, 'w09'))
    copyFileSync(path(name), path(name, 'w09'))
    expect(await detailOf()).toBe('the header names a different slot')
  })

  test('that follows the same segment as another segment', async () => {
    const last = names().at(-1) as string
    const written = writeSegment(directory, [])
    const copied = readFileSync(written, 'utf8').replace('"number":4', '"number":5')
    writeFileSync(path('20261121T000000.000Z-000005.ndjson'), copied)
    const missing = `the previous segment, ${last}, is missing`
    expect(problems(await verifyDecisions(directory)).map((problem) => problem[3])).toEqual([missing])
    // The next segment does not record its end.
    appendFileSync(written, 'torn')
    expect(problems(await verifyDecisions(directory)).map((problem) => problem[3])).toEqual([
      'torn tail that no later segment records',
      missing,
    ])
  })
})

describe('uuids', () => {
  test('that are recorded twice are detected in all slots, with any memory limit', async () => {
    const slots = ['w02', 'w03', 'w04', 'w05', 'w06']
    for (const [index, slot] of slots.entries()) {
      // Each begins with the last record of the previous slot.
      writeSegment(directory, attestations(1_000 + index * 60, 1_061 + index * 60), { slot })
    }
    for (const maxUuids of [10, 100, 1_000_000]) {
      const report = await verifyDecisions(directory, { maxUuids })
      expect(problems(report)).toEqual(
        range(1, 5).map((index) => [
          slots[index],
          names(slots[index])[0],
          2,
          `uuid ${attestation(1_000 + index * 60).uuid} is recorded a second time`,
        ]),
      )
      expect(report.passes > 1).toBe(maxUuids <= 100)
      expect(report.decisions).toBe(18 + 5 * 61)
    }
  })

  test('that are withheld twice cause a warning, and uuids that are decided twice an error', async () => {
    for (const maxUuids of [10, 1_000_000]) {
      const slot = `w1${maxUuids === 10 ? 0 : 1}`
      const first = maxUuids === 10 ? 5_000 : 6_000
      const warnings = (report: VerifyReport) => report.segments.find((segment) => segment.slot === slot)?.warnings
      const writer = openTestSegment(directory, { slot })
      writer.append([attestation(first), withheld(first)])
      const repeated: string[] = []
      const verify = () => verifyDecisions(directory, { maxUuids, onRepeated: (uuid) => repeated.push(uuid) })
      expect([(await verify()).ok, warnings(await verify())]).toEqual([true, []])
      writer.append([withheld(first)])
      expect(warnings(await verify())?.[0]).toStartWith('1 answer is recorded as withheld more than once')
      writer.append([attestation(first + 1), withheld(first + 1), withheld(first + 1)])
      const report = await verify()
      expect([report.ok, warnings(report)?.length]).toEqual([true, 1])
      expect(warnings(report)?.[0]).toStartWith('2 answers are recorded as withheld more than once')
      expect(repeated).toEqual([])
      writeSegment(directory, [attestation(first)], { slot: `${slot}0` })
      expect(problems(await verify())).toEqual([[`${slot}0`, expect.any(String), 2, expect.any(String)]])
      expect(repeated).toEqual([attestation(first).uuid])
      writer.close()
      rmSync(join(directory, `${slot}0`), { recursive: true })
    }
  })
})
