// Recovery of the recorded jobs of a lost worker.
import { afterEach, describe, expect, test } from 'bun:test'
import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { DecisionLineMalformedError } from '../../src/decision-log/errors.ts'
import { recoverDecisions } from '../../src/decision-log/recover.ts'
import { systemSegmentFiles } from '../../src/decision-log/segment-files.ts'
import {
  attestation,
  attestations,
  denial,
  openTestSegment,
  range,
  removeTemporaryDirectories,
  segmentNames,
  temporaryDirectory,
  uuidOf,
  withheld,
} from './fixtures.ts'

afterEach(removeTemporaryDirectories)

describe('recovery', () => {
  test('finds exactly the recorded jobs, across rotations and torn tails', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('allow', 'deny', 'withheld', 'reopen', 'tear'), { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 500, max: 6_000 }),
        (steps, maxBytes) => {
          const directory = temporaryDirectory()
          const files = { ...systemSegmentFiles, syncPath: () => undefined }
          const open = () => openTestSegment(directory, { maxBytes, files })
          let writer = open()
          const written = new Map<string, unknown>()
          for (const [number, step] of steps.entries()) {
            if (step === 'reopen' || step === 'tear') {
              writer.close()
              if (step === 'tear') appendFileSync(writer.path, `{"prev":"${'0'.repeat(64)}","kind":"attest`)
              writer = open()
            } else if (step === 'withheld') {
              writer.append([withheld(number)])
            } else {
              const record = step === 'allow' ? attestation(number) : denial(number, { message: 'no\nö' })
              writer.append([record])
              written.set(record.uuid, record)
            }
          }
          writer.close()
          const wanted = range(0, steps.length + 5).map(uuidOf)
          expect(recoverDecisions(join(directory, 'w00'), wanted)).toEqual(written as never)
          expect(recoverDecisions(writer.path, wanted)).toEqual(written as never)
          removeTemporaryDirectories()
        },
      ),
      { numRuns: 60 },
    )
  })

  test('finds nothing in a missing slot, and does not read the log if no jobs were in flight', () => {
    const directory = temporaryDirectory()
    expect(recoverDecisions(join(directory, 'none'), [uuidOf(1)]).size).toBe(0)
    writeFileSync(join(directory, 'file'), '')
    expect(recoverDecisions(join(directory, 'file'), []).size).toBe(0)
  })

  test('reads backwards up to its limit', () => {
    const directory = temporaryDirectory()
    const writer = openTestSegment(directory)
    writer.append(attestations(0, 100))
    expect(recoverDecisions(writer.path, [uuidOf(0)], { maxBytes: 50_000 }).size).toBe(0)
    expect(recoverDecisions(writer.path, [uuidOf(99), uuidOf(60)], { maxBytes: 50_000 }).size).toBe(2)
    expect(recoverDecisions(writer.path, [uuidOf(0)]).size).toBe(1)
  })

  test('with sync flushes the segments of the found records', () => {
    const directory = temporaryDirectory()
    const writer = openTestSegment(directory)
    writer.append([attestation(1)])
    const flushed: string[] = []
    const files = { ...systemSegmentFiles, syncPath: (path: string) => void flushed.push(path) }
    recoverDecisions(writer.path, [uuidOf(1)], { sync: true, files })
    recoverDecisions(writer.path, [uuidOf(2)], { sync: true, files })
    recoverDecisions(writer.path, [uuidOf(1)], { files })
    expect(flushed).toEqual([writer.path])
  })

  test('ignores lines of a failed write that the next segment does not count', () => {
    const directory = temporaryDirectory()
    const first = openTestSegment(directory)
    first.append([attestation(1), attestation(2)])
    const bytes = readFileSync(first.path)
    const cut = bytes.lastIndexOf(10, bytes.length - 2) + 1
    truncateSync(first.path, cut)
    openTestSegment(directory).close()
    writeFileSync(first.path, bytes)
    expect([...recoverDecisions(join(directory, 'w00'), [uuidOf(1), uuidOf(2)]).keys()]).toEqual([uuidOf(1)])
  })

  test('fails if the log is damaged, so that nothing is signed again', () => {
    const directory = temporaryDirectory()
    const writer = openTestSegment(directory)
    writer.append([attestation(1), attestation(2)])
    const text = readFileSync(writer.path, 'utf8')
    for (const damaged of [
      text.replace('"kind":"attestation"', '"kind":"attestatiom"'),
      text.replace('"compliant":true', '"compliant":tru'),
      text.replace('"kind":"segment"', '"kind":"segmemt"'),
      text.replace(uuidOf(1), uuidOf(1).toUpperCase()).replace('"compliant"', '"complaint"'),
    ]) {
      writeFileSync(writer.path, damaged)
      const wanted = [uuidOf(1), uuidOf(1).toUpperCase(), uuidOf(3)]
      expect(() => recoverDecisions(writer.path, wanted)).toThrow(DecisionLineMalformedError)
    }
    expect(segmentNames(directory)).toHaveLength(1)
  })
})
