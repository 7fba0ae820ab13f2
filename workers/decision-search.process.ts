// Entry of the process that searches decisions: `bun decision-search.process.ts LOG-DIRECTORY INDEX-FILE`. Reads the index
// that the process beside it writes, so that no search waits for what that one does. Ends with its parent.
import { openIndexForReading } from '../src/store/decision-index/reader.ts'
import { ASKED_PRIORITY, stayInBackground } from './background-process.ts'
import { exportHeader, exportRows } from './decision-export.ts'
import { createDecisionFinder, type DecisionFinder } from './decision-finder.ts'
import type { FindOperation, FindRequest, IndexQuestion, IndexReply, IndexResults } from './decision-index-protocol.ts'

/** The index is there within a moment of the first start, or of being begun anew. */
const LOOK_AGAIN_MS = 50
const LOOK_FOR_MS = 5_000

class IndexMissingError extends Error {
  override readonly name = 'IndexMissingError'
}

const [directory = '', path = ''] = process.argv.slice(2)

stayInBackground(ASKED_PRIORITY)

let opened: { readonly finder: DecisionFinder; isStale(): boolean; close(): void } | null = null

const closeIndex = (): void => {
  opened?.close()
  opened = null
}

const openFinder = async (): Promise<DecisionFinder> => {
  if (opened?.isStale() === true) closeIndex()
  for (let waitedMs = 0; opened === null && waitedMs <= LOOK_FOR_MS; waitedMs += LOOK_AGAIN_MS) {
    const file = openIndexForReading(path)
    if (file !== null) {
      const finder = createDecisionFinder({ directory, file, monotonicMs: () => performance.now() })
      opened = { finder, isStale: file.isStale, close: file.close }
    } else {
      await Bun.sleep(LOOK_AGAIN_MS)
    }
  }
  if (opened === null) throw new IndexMissingError()
  return opened.finder
}

const find = (finder: DecisionFinder, request: FindRequest): IndexResults[FindOperation] => {
  switch (request.operation) {
    case 'search':
      return finder.search(request.filter, request.after, request.limit)
    case 'find':
      return finder.find(request.organizationId, request.uuid)
    case 'count':
      return finder.count(request.filter)
    case 'export': {
      const { decisions, next } = finder.search(request.filter, request.after, request.limit)
      const header = request.after === null ? exportHeader(request.format) : ''
      return { text: header + exportRows(request.format, decisions), rows: decisions.length, next }
    }
  }
}

const send = (reply: IndexReply): void => void process.send?.(reply)

const answer = async ({ id, request }: IndexQuestion): Promise<void> => {
  try {
    send({ id, ok: true, result: find(await openFinder(), request as FindRequest) })
  } catch (error) {
    // Whatever is wrong with it, the next question begins anew.
    closeIndex()
    send({ id, ok: false, errorClass: error instanceof Error ? error.name : typeof error })
  }
}

process.on('message', (question: IndexQuestion) => void answer(question))
process.on('disconnect', () => {
  closeIndex()
  process.exit(0)
})
