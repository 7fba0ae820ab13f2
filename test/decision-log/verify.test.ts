// Verification finds every change to a log but the two that a hash chain can't show (see verify.ts), and tells what a
// crash left from what an attacker did.
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
import { type VerifyProgress, type VerifyReport, verifyDecisions } from '../../src/decision-log/verify.ts'
import {
  attestation,
  denial,
  manualClock,
  openTestSegment,
  range,
  removeTemporaryDirectories,
  START_MS,
  segmentNames,
  temporaryDirectory,
  withheld,
} from './fixtures.ts'

let directory = ''
const path = (name: string, slot = 'w00'): string => join(directory, slot, name)
const names = (slot = 'w00'): string[] => segmentNames(directory, slot)
const problems = (report: VerifyReport) =>
  report.segments
    .filter((segment) => segment.problem !== null)
    .map((segment) => [segment.slot, segment.name, segment.problem?.line, segment.problem?.detail])

/** Two slots of three segments each, and the records 0 to 11 in each pair of segments. */
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

describe('a sound log', () => {
  test('is reported segment by segment', async () => {
    const report = await verifyDecisions(directory)
    expect(report).toMatchObject({ ok: true, decisions: 18, withheld: 6, passes: 1 })
    expect(names().length).toBe(3)
    expect(report.segments.map(({ slot, name }) => [slot, name])).toEqual(
      ['w00', 'w01'].flatMap((slot) => names(slot).map((name) => [slot, name])),
    )
    const [first] = report.segments
    expect(first).toMatchObject({
      firstAt: START_MS,
      problem: null,
      warnings: [],
      bytes: statSync(path(names()[0] as string)).size,
    })
    expect(first?.lines).toBe(readFileSync(path(first?.name as string), 'utf8').split('\n').length - 1)
  })

  test('with no segment or no folder', async () => {
    expect(await verifyDecisions(temporaryDirectory())).toMatchObject({ ok: true, segments: [] })
    await expect(verifyDecisions(join(directory, 'none'))).rejects.toThrow(DecisionDirectoryMissingError)
  })

  test('reports its progress to the last byte', async () => {
    const seen: VerifyProgress[] = []
    const { bytes } = await verifyDecisions(directory, { onProgress: (progress) => void seen.push(progress) })
    expect(seen.at(-1)).toEqual({ pass: 1, bytesRead: bytes, bytesTotal: bytes })
  })

  test('that is still being written', async () => {
    const writer = openTestSegment(directory, { slot: 'w02' })
    writer.append([attestation(500)])
    appendFileSync(writer.path, '{"prev":"')
    const report = await verifyDecisions(directory)
    expect(report.ok).toBe(true)
    expect(report.segments.at(-1)?.warnings[0]).toContain('torn tail of 9 bytes')
  })

  test('whose oldest segments were removed for good', async () => {
    rmSync(path(names()[0] as string))
    const report = await verifyDecisions(directory)
    expect(report.ok).toBe(true)
    expect(report.segments[0]?.warnings[0]).toContain('are not present')
  })
})

describe('a changed log', () => {
  // Every file as lines; the last line of the newest segment of a slot is what the chain does not cover yet.
  const lines = (slot: string, name: string): string[] =>
    readFileSync(path(name, slot), 'utf8').split('\n').slice(0, -1)
  const place = fc.record({
    slot: fc.constantFrom('w00', 'w01'),
    segment: fc.nat({ max: 2 }),
    line: fc.nat(),
    byte: fc.nat(),
  })

  /** Changes one place of the log, verifies, and puts the log back. */
  const breaks = async (
    where: { slot: string; segment: number; line: number },
    change: (all: string[], index: number) => string[],
  ): Promise<void> => {
    const name = names(where.slot)[where.segment] as string
    const original = readFileSync(path(name, where.slot))
    const all = lines(where.slot, name)
    const covered = where.segment === 2 ? all.length - 1 : all.length
    const changed = change(all, where.line % covered)
    writeFileSync(path(name, where.slot), changed.map((line) => `${line}\n`).join(''), 'latin1')
    const report = await verifyDecisions(directory)
    writeFileSync(path(name, where.slot), original)
    expect(report.ok).toBe(false)
    expect(problems(report).every(([slot]) => slot === where.slot)).toBe(true)
  }

  test('any byte changed, in any covered line', async () => {
    await fc.assert(
      fc.asyncProperty(place, fc.integer({ min: 1, max: 255 }), (where, flip) =>
        breaks(where, (all, index) => {
          const line = all[index] as string
          const at = where.byte % line.length
          const changed = String.fromCharCode(line.charCodeAt(at) ^ flip)
          return all.with(index, line.slice(0, at) + changed + line.slice(at + 1))
        }),
      ),
      { numRuns: 200 },
    )
  })

  test('any covered line removed', async () => {
    await fc.assert(
      fc.asyncProperty(place, (where) => breaks(where, (all, index) => all.toSpliced(index, 1))),
      { numRuns: 60 },
    )
  })

  test('any two lines swapped, whichever they are', async () => {
    await fc.assert(
      fc.asyncProperty(place, fc.nat(), (where, second) =>
        breaks(where, (all, index) => {
          const others = range(0, all.length).filter((each) => each !== index)
          const other = others[second % others.length] as number
          return all.with(index, all[other] as string).with(other, all[index] as string)
        }),
      ),
      { numRuns: 60 },
    )
  })

  test('any line repeated, or any other put in', async () => {
    await fc.assert(
      fc.asyncProperty(place, fc.constantFrom('', '{}', 'x'), (where, text) =>
        breaks(where, (all, index) => all.toSpliced(index, 0, text === 'x' ? (all[index] as string) : text)),
      ),
      { numRuns: 60 },
    )
  })

  test('the line number is that of the line whose hash no longer fits', async () => {
    const name = names()[0] as string
    const all = lines('w00', name)
    const changed = (all[2] as string).replace('"compliant":false', '"compliant":false'.replace('false', 'true '))
    writeFileSync(path(name), all.with(2, changed).join('\n').concat('\n'))
    expect(problems(await verifyDecisions(directory))[0]).toEqual(['w00', name, 3, expect.any(String)])
    const renamed = (all[2] as string).replace('Demo policy', 'Dema policy')
    writeFileSync(path(name), all.with(2, renamed).join('\n').concat('\n'))
    expect(problems(await verifyDecisions(directory))).toEqual([
      ['w00', name, 4, 'the hash of the previous line does not match'],
    ])
  })

  test('the last line of a segment that has a successor, still a good line by itself', async () => {
    const [first, second] = names() as [string, string]
    const all = lines('w00', first)
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
    expect(problems(await verifyDecisions(directory))[0]?.[3]).toBe('the line is not UTF-8')
  })

  test('a line without an end', async () => {
    const name = names()[0] as string
    writeFileSync(path(name), Buffer.concat([readFileSync(path(name)), Buffer.alloc(3_000_000, 'x')]))
    const older = problems(await verifyDecisions(directory))
    expect(older).toEqual([['w00', name, 6, 'bytes were added or removed after the last line']])
    const newest = names()[2] as string
    appendFileSync(path(newest), `${'x'.repeat(3_000_000)}\n`)
    expect(problems(await verifyDecisions(directory)).at(-1)?.[3]).toBe('a line exceeds the maximum length')
  })
})

describe('segments', () => {
  test('a tail torn after its successor was opened is an error, one that the successor noted a warning', async () => {
    const [first] = names() as [string]
    appendFileSync(path(first), 'x')
    expect(problems(await verifyDecisions(directory))[0]?.[3]).toBe('bytes were added or removed after the last line')
    truncateSync(path(first), statSync(path(first)).size - 5)
    expect(problems(await verifyDecisions(directory))[0]?.[3]).toContain('lines were removed')
  })

  test('lines added to a segment that has a successor are an error, also well-chained ones', async () => {
    const [first] = names() as [string]
    const bytes = readFileSync(path(first))
    const last = bytes.toString('utf8').trimEnd().split('\n').at(-1) as string
    const prev = new Bun.CryptoHasher('sha256').update(last).digest('hex')
    appendFileSync(
      path(first),
      `${JSON.stringify({ prev, kind: 'withheld', uuid: attestation(0).uuid, at: START_MS })}\n`,
    )
    expect((await verifyDecisions(directory)).ok).toBe(false)
  })

  test('the middle one removed, emptied, swapped, renamed or copied', async () => {
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
    expect(problems(await verifyDecisions(directory))[0]?.[3]).toBe('the header names a different slot')
  })

  test('two writers that both follow the same segment', async () => {
    const files = names()
    const last = files.at(-1) as string
    const writer = openTestSegment(directory)
    writer.close()
    copyFileSync(writer.path, path('20261121T000000.000Z-000005.ndjson'))
    const copied = readFileSync(writer.path, 'utf8').replace('"number":4', '"number":5')
    writeFileSync(path('20261121T000000.000Z-000005.ndjson'), copied)
    const missing = `the previous segment, ${last}, is missing`
    expect(problems(await verifyDecisions(directory)).map((problem) => problem[3])).toEqual([missing])
    // The segment after it tells nothing about its end.
    appendFileSync(writer.path, 'torn')
    expect(problems(await verifyDecisions(directory)).map((problem) => problem[3])).toEqual([
      'torn tail that no later segment records',
      missing,
    ])
  })
})

describe('uuids', () => {
  test('recorded twice, in whatever slots, are found with any amount of memory', async () => {
    const slots = ['w02', 'w03', 'w04', 'w05', 'w06']
    for (const [index, slot] of slots.entries()) {
      const writer = openTestSegment(directory, { slot })
      // Each begins with the last record of the slot before.
      writer.append(range(1_000 + index * 60, 1_061 + index * 60).map((number) => attestation(number)))
      writer.close()
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

  test('that are withheld again and again are a note, and that are decided again an error', async () => {
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
      const other = openTestSegment(directory, { slot: `${slot}0` })
      other.append([attestation(first)])
      other.close()
      expect(problems(await verify())).toEqual([[`${slot}0`, expect.any(String), 2, expect.any(String)]])
      expect(repeated).toEqual([attestation(first).uuid])
      writer.close()
      rmSync(join(directory, `${slot}0`), { recursive: true })
    }
  })
})
