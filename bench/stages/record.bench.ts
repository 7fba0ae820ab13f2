// The decision log: encodes, chains and appends a batch of records, and builds the answers from them. Without
// fdatasync.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { answerOf } from '../../src/decision-log/answer.ts'
import { openSegment } from '../../src/decision-log/segment.ts'
import { exampleAt, recordOf } from './example.ts'
import type { StageBenchmark } from './harness.ts'

/** Records per append, as for a worker under load. */
const BATCH = 16
const SEGMENT_BYTES = 1024 * 1024 * 1024

const recordStage: StageBenchmark = {
  name: 'record',
  description: `record: encode, link, append in batches of ${BATCH}; build the answer`,
  prepare() {
    const directory = mkdtempSync(join(tmpdir(), 'countersign-bench-record-'))
    const clock = { unixMs: () => Date.now() }
    const open = () => openSegment({ directory, slot: 'w00', maxBytes: SEGMENT_BYTES, sync: false, clock })
    const remove = () => rmSync(directory, { recursive: true, force: true })
    let writer = open()
    let next = 0
    return {
      operations: BATCH,
      // A second of records takes several hundred megabytes, so they are deleted after each round.
      reset() {
        writer.close()
        remove()
        writer = open()
      },
      run(iterations) {
        for (let i = 0; i < iterations; i++) {
          const records = Array.from({ length: BATCH }, () => recordOf(exampleAt(next++)))
          writer.append(records)
          for (const record of records) answerOf(record)
        }
      },
      close() {
        writer.close()
        remove()
      },
    }
  },
}

export const stages: readonly StageBenchmark[] = [recordStage]
