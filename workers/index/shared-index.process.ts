// Builds the shared index: `bun shared-index.process.ts LOG-DIRECTORY`, with a SharedIndexInput on standard input.

import { nodeNameOf } from '../../src/decision-log/node-name.ts'
import { errorClassOf } from '../../src/lib/named-error.ts'
import { openSharedIndex } from '../../src/store/decision-index/shared-index.ts'
import { stayInBackground } from '../background-process.ts'
import { send, tellStatus } from './answer-finds.ts'
import type { IndexStatus } from './decision-index.ts'
import type { BuildRequest, IndexQuestion } from './decision-index-protocol.ts'
import { createSharedIndexBuilder } from './shared-index-builder.ts'
import type { SharedIndexInput } from './shared-index-input.ts'

const IDLE_MS = 1_000
const FAILED_MS = 5_000
/** Maximum fraction of time in which this process uses the database, because signing needs it too. */
const DUTY = 0.1

const [directory = ''] = process.argv.slice(2)

stayInBackground()

process.on('disconnect', () => process.exit(0))

const { target } = (await Bun.stdin.json()) as SharedIndexInput
const { writer } = await openSharedIndex(target, nodeNameOf(directory))
const builder = createSharedIndexBuilder({ directory, writer, monotonicMs: () => performance.now() })

const reportStatus = async (): Promise<IndexStatus> => {
  const status = await builder.status()
  tellStatus(status)
  return status
}

/** Runs work sequentially: a rebuild must not overlap a batch. */
let last: Promise<unknown> = Promise.resolve()
const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
  const next = last.then(work)
  last = next.catch(() => undefined)
  return next
}

const answer = async ({ operation }: BuildRequest): Promise<IndexStatus | null> => {
  if (operation === 'status') return reportStatus()
  await builder.rebuild()
  await reportStatus()
  return null
}

process.on('message', ({ id, request }: IndexQuestion) => {
  inTurn(() => answer(request as BuildRequest)).then(
    (result) => send({ id, ok: true, result }),
    (error: unknown) => send({ id, ok: false, errorClass: errorClassOf(error) }),
  )
})

const work = async (): Promise<void> => {
  const startedMs = performance.now()
  let pauseMs = IDLE_MS
  try {
    const hasMore = await inTurn(builder.ingest)
    await inTurn(reportStatus)
    const restMs = (performance.now() - startedMs) * (1 / DUTY - 1)
    pauseMs = hasMore ? restMs : Math.max(IDLE_MS, restMs)
  } catch (error) {
    send({ id: 0, ok: false, errorClass: errorClassOf(error) })
    pauseMs = FAILED_MS
  }
  setTimeout(() => void work(), pauseMs)
}
void work()
