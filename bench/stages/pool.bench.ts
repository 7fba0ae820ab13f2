// The path to a worker and back: a batch of jobs is encoded, sent, decoded, answered, sent back and decoded. The worker
// does nothing else. Includes the CPU time of both threads.
import type { Job } from '../../src/pool/protocol.ts'
import { decodeOutcomes, encodeJobs } from '../../src/pool/wire.ts'
import { EXPIRATION_SECONDS, exampleAt, requestOf } from './example.ts'
import type { StageBenchmark } from './harness.ts'

/** Jobs per message, and messages in flight: two, so that the worker never waits for the next. */
const BATCH = 16
const IN_FLIGHT = 2

const jobOf = (sequence: number): Job => {
  const example = exampleAt(sequence)
  const { uuid } = example
  return {
    kind: 'attestation',
    uuid,
    targetId: 'target_0123456789abcdef',
    keyId: '0123456789ab',
    requestId: uuid,
    request: requestOf(example),
    facts: '',
    expiration: EXPIRATION_SECONDS,
    deadlineMs: 25_000,
  }
}

const poolStage: StageBenchmark = {
  name: 'pool',
  description: `pool messages: to a worker and back, batches of ${BATCH}`,
  prepare() {
    const worker = new Worker(new URL('./pool-echo.worker.ts', import.meta.url).href)
    let sequence = 0
    let toSend = 0
    let toReceive = 0
    let done: () => void = () => undefined

    const send = (): void => {
      toSend--
      worker.postMessage(
        encodeJobs(
          Array.from({ length: BATCH }, () => ({ sequence, job: jobOf(sequence++) })),
          0,
        ),
      )
    }
    worker.onmessage = (event: MessageEvent<string>) => {
      if (decodeOutcomes(event.data).outcomes.length !== BATCH) throw new Error('a batch came back incomplete')
      if (--toReceive === 0) done()
      else if (toSend > 0) send()
    }
    return {
      operations: BATCH,
      run(iterations) {
        const { promise, resolve } = Promise.withResolvers<void>()
        done = resolve
        toSend = iterations
        toReceive = iterations
        for (let i = 0; i < IN_FLIGHT && toSend > 0; i++) send()
        return promise
      },
      close: () => worker.terminate(),
    }
  },
}

export const stages: readonly StageBenchmark[] = [poolStage]
