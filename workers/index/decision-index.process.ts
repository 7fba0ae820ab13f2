// Builds the decision index: `bun decision-index.process.ts LOG-DIRECTORY INDEX-FILE`. Ends with its parent.
import { errorClassOf } from '../../src/lib/named-error.ts'
import { runWhenIdle, stayInBackground } from '../background-process.ts'
import { send, tellStatus } from './answer-finds.ts'
import { createDecisionIndex } from './decision-index.ts'
import type { BuildOperation, BuildRequest, IndexQuestion, IndexResults } from './decision-index-protocol.ts'

/** Pause at the end of the log. Lines written during the pause share one transaction. */
const IDLE_MS = 250
const FAILED_MS = 2_000

const [directory = '', path = ''] = process.argv.slice(2)

stayInBackground()
runWhenIdle()

const index = createDecisionIndex({ directory, path, monotonicMs: () => performance.now() })

const answer = (request: BuildRequest): IndexResults[BuildOperation] => {
  if (request.operation === 'status') return index.status()
  index.rebuild()
  tellStatus(index.status())
  return null
}

process.on('message', ({ id, request }: IndexQuestion) => {
  try {
    send({ id, ok: true, result: answer(request as BuildRequest) })
  } catch (error) {
    send({ id, ok: false, errorClass: errorClassOf(error) })
  }
})
process.on('disconnect', () => {
  index.close()
  process.exit(0)
})

/** Each batch runs in its own timer, so that requests are answered between batches. */
const work = (): void => {
  let pauseMs = 0
  try {
    if (!index.ingest() && !index.improve()) pauseMs = IDLE_MS
    tellStatus(index.status())
  } catch (error) {
    send({ id: 0, ok: false, errorClass: errorClassOf(error) })
    pauseMs = FAILED_MS
  }
  setTimeout(work, pauseMs)
}
work()
