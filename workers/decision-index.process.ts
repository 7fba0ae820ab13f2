// Entry of the decision index's process: `bun decision-index.process.ts LOG-DIRECTORY INDEX-FILE`. Ends with its parent.
import { stayInBackground } from './background-process.ts'
import { exportHeader, exportRows } from './decision-export.ts'
import { createDecisionIndex } from './decision-index.ts'
import type {
  IndexOperation,
  IndexQuestion,
  IndexReply,
  IndexRequest,
  IndexResults,
} from './decision-index-protocol.ts'

/** Between two looks at a log that had nothing new. */
const IDLE_MS = 250
const FAILED_MS = 2_000

const [directory = '', path = ''] = process.argv.slice(2)

stayInBackground()

const index = createDecisionIndex({ directory, path, monotonicMs: () => performance.now() })
const send = (reply: IndexReply): void => void process.send?.(reply)
const classOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error)

const answer = (request: IndexRequest): IndexResults[IndexOperation] => {
  switch (request.operation) {
    case 'search':
      return index.search(request.filter, request.after, request.limit)
    case 'find':
      return index.find(request.organizationId, request.uuid)
    case 'count':
      return index.count(request.filter)
    case 'export': {
      const { decisions, next } = index.search(request.filter, request.after, request.limit)
      const header = request.after === null ? exportHeader(request.format) : ''
      return { text: header + exportRows(request.format, decisions), rows: decisions.length, next }
    }
    case 'status':
      return index.status()
    case 'rebuild':
      index.rebuild()
      return null
  }
}

process.on('message', ({ id, request }: IndexQuestion) => {
  try {
    send({ id, ok: true, result: answer(request) })
  } catch (error) {
    send({ id, ok: false, errorClass: classOf(error) })
  }
})
process.on('disconnect', () => {
  index.close()
  process.exit(0)
})

/** Questions get their turn between any two batches. */
const work = (): void => {
  let pauseMs = 0
  try {
    if (!index.ingest() && !index.improve()) pauseMs = IDLE_MS
  } catch (error) {
    send({ id: 0, ok: false, errorClass: classOf(error) })
    pauseMs = FAILED_MS
  }
  setTimeout(work, pauseMs)
}
work()
